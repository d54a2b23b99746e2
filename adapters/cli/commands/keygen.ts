import type { Command } from '../call/command.js'

export const keygen: Command = {
  name: 'keygen',
  summary: 'make the key that signs the ledger of a log',
  description:
    'Writes the private key to a new file, and the note of the empty tree to <file>.note beside it. Only their owner can read them. Prints the verifier key, which is public: everyone who checks a proof needs it.',
  arguments: [
    {
      name: 'origin',
      description:
        'the name of the ledger: a URL without its scheme, such as audit.example.com/orders',
      required: true,
    },
  ],
  options: [{ flags: '-o, --out <file>', description: 'the file to write' }],
  targets: [],
  examples: [
    {
      run: 'daybook keygen audit.example.com/orders --out ledger.pem',
      says: 'the key of a new ledger',
    },
  ],
  load: () => import('../run/keygen.js'),
}
