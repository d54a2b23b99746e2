import type { Command } from '../call/command.js'

export const checkProof: Command = {
  name: 'check-proof',
  summary: 'check that a ledger has sealed an event with these values',
  description:
    'Checks the proof of an event without the log and without a network. The event is a line of an export as lines of JSON, byte for byte. Either --key or --policy says which ledger is trusted. The exit code is 1 if the event is not proved, and 2 if a text does not follow its format.',
  arguments: [
    { name: 'proof', description: 'the file of the proof', required: true },
    {
      name: 'event',
      description: 'the file with the line of the event, or - for stdin',
      required: true,
    },
  ],
  options: [
    { flags: '--key <vkey>', description: 'the verifier key of the ledger' },
    { flags: '--policy <file>', description: 'a policy file, as c2sp.org/tlog-policy defines it' },
  ],
  targets: [],
  examples: [
    {
      run: 'daybook check-proof order.tlog-proof order.ndjson --policy audit.policy',
      says: 'check a proof',
    },
    {
      run: 'daybook check-proof order.tlog-proof - --key "$VKEY" < order.ndjson',
      says: 'with the verifier key alone',
    },
  ],
  load: () => import('../run/check-proof.js'),
}
