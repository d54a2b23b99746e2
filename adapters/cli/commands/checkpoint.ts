import type { Command } from '../call/command.js'

export const checkpoint: Command = {
  name: 'checkpoint',
  summary: 'print the signed head of the ledger',
  description:
    'With --config and a signer it seals everything that is visible and signs, unless another process is sealing. Otherwise it prints the last head. Keep the text where nobody who can write to the database can change it: verify --ledger --head compares the log with it.',
  arguments: [],
  options: [],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    { run: 'daybook checkpoint audit.db > monday.note', says: 'keep the head of today' },
    {
      run: 'daybook checkpoint https://orders.example.com > monday.note',
      says: 'the same from a service',
    },
  ],
  load: () => import('../run/checkpoint.js'),
}
