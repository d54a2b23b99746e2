import { visibleText } from '../../../src/describing/visible-text.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import type { Damage } from '../../../src/store/damage.js'
import type { Call } from '../call/command.js'
import type { Exit } from '../terminal/exit-codes.js'
import { showProgress } from '../terminal/progress.js'
import { painter } from '../terminal/style.js'
import { write } from '../terminal/terminal.js'

const timeOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : formatTimestamp(time)

/** The damage with times as in events. */
const readable = ({ from, to, ...damage }: Damage): object => ({
  ...damage,
  from: timeOf(from),
  to: timeOf(to),
})

export async function run(call: Call): Promise<Exit> {
  const { options, terminal } = call
  const { stdout, signal } = terminal
  const { audit } = await call.openLog()
  const progress = showProgress(terminal, { label: 'reading', unit: 'places' })
  const found = await audit!
    .verify({ signal, onProgress: ({ done, total }) => progress.update(done, total) })
    .finally(() => progress.stop())
  const { events, segments, damage } = found
  if (options['json']) {
    for (const one of damage) await write(stdout, `${JSON.stringify(readable(one))}\n`)
    await write(stdout, `${JSON.stringify({ events, segments, damaged: damage.length })}\n`)
  } else {
    const paint = painter(stdout, terminal.env)
    for (const { place, reason, affects } of damage)
      await write(
        stdout,
        `${paint('red', visibleText(place))}: ${visibleText(reason)}; ${visibleText(affects)}\n`,
      )
    const read = `${events.toLocaleString('en')} events and ${segments.toLocaleString('en')} segments of the index read`
    await write(
      stdout,
      `${read}: ${damage.length === 0 ? 'no damage' : `${damage.length} damaged`}\n`,
    )
  }
  return damage.length === 0 ? 'done' : 'failed'
}
