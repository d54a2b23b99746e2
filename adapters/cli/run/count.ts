import { visibleText } from '../../../src/describing/visible-text.js'
import type { Call } from '../call/command.js'
import { hintAtMissing } from '../call/hints.js'
import { readQuery } from '../call/query.js'
import type { Exit } from '../terminal/exit-codes.js'
import { usageError } from '../terminal/exit-codes.js'
import { showElapsed } from '../terminal/progress.js'
import { write } from '../terminal/terminal.js'

const WITHIN_MS = 60_000

function readTop(text: unknown): number {
  const top = Number(text)
  if (Number.isInteger(top) && top >= 1 && top <= 1000) return top
  throw usageError(`--top ${String(text)}: must be a whole number from 1 to 1000`)
}

export async function run(call: Call): Promise<Exit> {
  const { options, terminal } = call
  const { signal, stdout } = terminal
  const query = readQuery(call)
  const by = options['by'] as string | undefined
  const top = readTop(options['top'])
  const log = await call.openLog()
  const asked = { signal, within: WITHIN_MS, top, ...(by !== undefined && { facets: [by] }) }
  const elapsed = showElapsed(terminal, 'counting, for a minute at most')
  const { total, facets, exact } = await log.count(query, asked).finally(() => elapsed.stop())
  const facet = by === undefined ? undefined : facets?.[by]
  const isExact = exact.total && (facet?.exact ?? true)
  if (options['json']) {
    await write(
      stdout,
      `${JSON.stringify({ total, exact: isExact, ...(facet && { values: facet.values }) })}\n`,
    )
  } else {
    const number = (count: number): string =>
      stdout.isTTY ? count.toLocaleString('en') : String(count)
    const rows = (facet?.values ?? []).map(({ value, count }) => [
      visibleText(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(
        /[\t\r\n]/g,
        ' ',
      ),
      number(count),
    ])
    const prefix = exact.total ? '' : '>='
    const lines = rows.map(([value, count]) => `${count}\t${value}\n`)
    const end = stdout.isTTY
      ? `${prefix}${number(total)} ${total === 1 ? 'event' : 'events'}`
      : `${prefix}${total}`
    await write(stdout, `${lines.join('')}${end}\n`)
  }
  await hintAtMissing(call, log, { ...query, sorts: [] })
  return isExact ? 'done' : 'failed'
}
