import type { Command } from '../call/command.js'
import { keyOption } from '../call/options.js'

export const prove: Command = {
  name: 'prove',
  summary: 'print the proof of one event',
  description:
    'Prints a text that proves, with the export line of the event and the verifier key, that the ledger has sealed the event with these values. daybook check-proof checks it without the log. A service at http(s)://… has the key, so it takes no --key.',
  arguments: [{ name: 'id', description: 'the id of the event', required: true }],
  options: [keyOption],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    {
      run: 'daybook prove audit.db 01a20405-0fa8-7676-ba2c-be23e865d0a6 --key "$VKEY" > order.tlog-proof',
      says: 'the proof of an event',
    },
    {
      run: 'daybook prove https://orders.example.com 01a20405-0fa8-7676-ba2c-be23e865d0a6 > order.tlog-proof',
      says: 'the same from a service',
    },
  ],
  load: () => import('../run/prove.js'),
}
