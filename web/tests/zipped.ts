// Makes archives for tests, as other software does.
import { crc32, deflateRawSync } from 'node:zlib';

const crc = (b: Buffer): number => (typeof crc32 === 'function' ? crc32(b) : 0);

/** An archive of files; those of lies say another size than they have. */
export function zipped(
  files: Record<string, string | Buffer>,
  lies: Record<string, { packed: Buffer; says: number }> = {},
): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  const add = (name: string, packed: Buffer, size: number, sum: number): void => {
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(sum, 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(size, 22);
    head.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    entry.writeUInt16LE(20, 6);
    head.copy(entry, 10, 8, 28);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.writeUInt32LE(at, 42);
    local.push(head, Buffer.from(name), packed);
    central.push(entry, Buffer.from(name));
    at += 30 + Buffer.byteLength(name) + packed.length;
  };
  for (const [name, content] of Object.entries(files))
    add(name, deflateRawSync(content), Buffer.byteLength(content), crc(Buffer.from(content)));
  for (const [name, lie] of Object.entries(lies)) add(name, lie.packed, lie.says, 0);
  const list = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(central.length / 2, 8);
  end.writeUInt16LE(central.length / 2, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, list, end]);
}
