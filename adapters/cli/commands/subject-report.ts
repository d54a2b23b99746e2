import type { Command } from '../call/command.js'
import { SUBJECT } from './erase.js'

export const subjectReport: Command = {
  name: 'subject-report',
  summary: 'print all events about a person',
  description:
    'Prints events with data of the person, and events that name the person, oldest first, as lines of JSON with personal values in clear. The keys are those of the module of --config.',
  arguments: [{ ...SUBJECT, required: true }],
  options: [
    {
      flags: '-o, --out <file>',
      description: 'write a new file, which only its owner can read',
    },
  ],
  targets: ['sqlite', 'postgres'],
  examples: [
    {
      run: 'daybook subject-report audit.db customer=c17 --config audit.config.js --out c17.ndjson',
      says: 'all events about a customer',
    },
  ],
  load: () => import('../run/subject-report.js'),
}
