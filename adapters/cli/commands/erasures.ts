import type { Command } from '../call/command.js'

export const erasures: Command = {
  name: 'erasures',
  summary: 'show what was erased, and what is not complete',
  description:
    'Lists erasures of persons and of events, oldest first: when, by whom, why, how many events, and what may still have the data, and until when. The keys are those of the module of --config; without it, only erasures of events are known.',
  arguments: [],
  options: [],
  targets: ['sqlite', 'postgres'],
  examples: [
    { run: 'daybook erasures audit.db --config audit.config.js', says: 'all erasures of a log' },
  ],
  load: () => import('../run/erasures.js'),
}
