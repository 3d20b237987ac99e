// Reads what is packed in a ZIP, such as the documents of an office: within bounds, by the browser's own means.

/** How large a packed file may be, unpacked, and how many there may be. */
const [largest, most] = [24 << 20, 5000];

export interface Packed {
  names: string[];
  /** The bytes of a file; undefined if there is none. */
  read: (name: string) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** A file as text. */
  text: (name: string) => Promise<string | undefined>;
}

interface Place {
  at: number;
  size: number;
  unpacked: number;
  method: number;
}

/** Reads the list of an archive; what is none is an error. */
export function unzipped(bytes: Uint8Array<ArrayBuffer>): Packed {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const places = placesIn(view, bytes);
  const read = async (name: string): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    const place = places.get(name);
    if (!place) return undefined;
    if (place.unpacked > largest) throw new Error(`${name} is too large`);
    if (view.getUint32(place.at, true) !== 0x04034b50) throw new Error(`${name} is not where the archive says`);
    const from = place.at + 30 + view.getUint16(place.at + 26, true) + view.getUint16(place.at + 28, true);
    const packed = bytes.subarray(from, from + place.size);
    if (place.method === 0) return packed;
    if (place.method !== 8) throw new Error(`${name} is packed in an unknown way`);
    return await inflated(packed, largest);
  };
  return {
    names: [...places.keys()],
    read,
    text: async (name) => read(name).then((b) => b && new TextDecoder().decode(b)),
  };
}

function placesIn(view: DataView, bytes: Uint8Array): Map<string, Place> {
  let end = view.byteLength - 22;
  for (const last = Math.max(0, end - 65_535); end >= last && view.getUint32(end, true) !== 0x06054b50; end--);
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw new Error('no archive');
  const count = view.getUint16(end + 10, true);
  if (count > most) throw new Error('too many files');
  const out = new Map<string, Place>();
  let at = view.getUint32(end + 16, true);
  for (let i = 0; i < count; i++) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new Error('the list of the archive is broken');
    const [name, extra, comment] = [28, 30, 32].map((o) => view.getUint16(at + o, true)) as [number, number, number];
    out.set(new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name)), {
      at: view.getUint32(at + 42, true),
      size: view.getUint32(at + 20, true),
      unpacked: view.getUint32(at + 24, true),
      method: view.getUint16(at + 10, true),
    });
    at += 46 + name + extra + comment;
  }
  return out;
}

/** Unpacks, and stops at a bound: what an archive says of sizes need not be true. */
async function inflated(packed: Uint8Array<ArrayBuffer>, bound: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > bound) {
      await reader.cancel();
      throw new Error('unpacked it is too large');
    }
    pieces.push(value);
  }
  const out = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}
