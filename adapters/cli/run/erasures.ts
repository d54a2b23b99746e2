import type { Erasure } from 'daybook'
import type { Call } from '../call/command.js'
import { numberText } from '../terminal/format.js'
import { printNotice } from '../terminal/notice.js'
import { type Column, printTable } from '../terminal/table.js'

const COLUMNS: readonly Column<Erasure>[] = [
  { heading: 'ERASED AT', text: ({ erased_at }) => erased_at },
  { heading: 'KEY OR EVENTS', text: ({ ref, ids }) => ref ?? ids.join(',') },
  {
    heading: 'EVENTS',
    text: ({ events }) => (events === null ? '' : numberText(events)),
    align: 'right',
  },
  { heading: 'BY', text: ({ username }) => username },
  { heading: 'REASON', text: ({ reason }) => reason },
  { heading: 'COMPLETE AT', text: ({ complete_at }) => complete_at ?? '' },
  {
    heading: 'NOT COMPLETE',
    text: ({ incomplete }) => incomplete.join('; '),
    style: ({ incomplete }) => (incomplete.length > 0 ? 'yellow' : undefined),
  },
]

export async function run(call: Call): Promise<void> {
  const { terminal, options } = call
  const { audit } = await call.openLog()
  const found = await audit!.erasures({ signal: terminal.signal })
  if (found.length === 0 && terminal.stdout.isTTY)
    printNotice(terminal, 'no erasures', options['json'] === true)
  else await printTable(terminal, found, COLUMNS, options['json'] === true)
}
