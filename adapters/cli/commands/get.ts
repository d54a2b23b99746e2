import type { Command } from '../call/command.js'
import { concealOption } from '../call/query.js'
import { rowOptions } from '../call/rows.js'

export const get: Command = {
  name: 'get',
  summary: 'show one event with all its attributes',
  description:
    'On a terminal it shows the sentence and the attributes, one on each line. In a pipe, and with --json, it prints the event as one line of JSON.',
  arguments: [{ name: 'id', description: 'the id of the event', required: true }],
  options: [concealOption, ...rowOptions.filter(({ flags }) => flags === '--utc')],
  targets: ['sqlite', 'postgres', 'http'],
  examples: [
    {
      run: 'daybook get audit.db 01a20405-0fa8-7676-ba2c-be23e865d0a6',
      says: 'one event',
    },
  ],
  load: () => import('../run/get.js'),
}
