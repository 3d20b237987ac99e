// What stands in the library of a server whose pages are looked at.
import type { Server } from './kit';

/** Makes an agent and remembered facts, one of them for a folder alone. */
export async function furnish(server: Server, folder_id: string): Promise<void> {
  await server.post('/agents', {
    name: 'bookkeeper',
    description: 'Answers for invoices and reminders. Always shows its sums.',
    soul: 'You never write to the bank.',
    tool_groups: ['file:read'],
  });
  const facts = [
    {
      id: 'owner',
      category: 'identity',
      content: 'Vera answers for the finance systems of a company of 60 people in Lund.',
    },
    {
      id: 'reports',
      category: 'preference',
      content: 'Reports: two pages at most, the recommendation first, figures with their source.',
    },
    { id: 'machine', category: 'context', content: 'The search machine has 16 cores, 64 GB of memory and no GPU.' },
    {
      id: 'late',
      category: 'constraint',
      content: 'Invoices are late after 30 days; disputed ones are never reminded.',
      scope: { projectId: folder_id },
    },
    { id: 'attic', category: 'context', content: 'The photo archive is on the drive named Attic.', status: 'proposed' },
  ];
  await server.post('/memory/import', { facts });
  await server.post(
    '/memory/facts/machine',
    { content: 'The search machine has 16 cores, 128 GB of memory and no GPU.' },
    'PATCH',
  );
}
