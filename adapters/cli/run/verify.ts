import type { AuditLog } from 'daybook'
import { visibleText } from '../../../src/describing/visible-text.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import type { Damage } from '../../../src/store/damage.js'
import type { VerifyProgress } from '../../../src/store/verification.js'
import type { Call } from '../call/command.js'
import { type Exit, usageError } from '../terminal/exit-codes.js'
import { type Progress, type ProgressOptions, showProgress } from '../terminal/progress.js'
import { numberText } from '../terminal/format.js'
import { painter } from '../terminal/style.js'
import { type Terminal, write } from '../terminal/terminal.js'
import { verifyLedger } from './verify-ledger.js'

const timeOf = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : formatTimestamp(time)

/** The damage with times as in events. */
const readable = ({ from, to, ...damage }: Damage): object => ({
  ...damage,
  from: timeOf(from),
  to: timeOf(to),
})

const STEPS: Readonly<Record<VerifyProgress['step'], ProgressOptions>> = {
  events: { label: 'reading the events', unit: 'events' },
  index: { label: 'reading the index', unit: 'segments' },
  file: { label: 'checking the database', unit: 'tables' },
}

/**
 * The number of events, for an estimate of the remaining time; `undefined` if it is not needed or counting takes
 * long.
 */
async function countEvents(
  audit: AuditLog,
  { stderr, signal }: Terminal,
): Promise<number | undefined> {
  if (!stderr.isTTY) return undefined
  const { total, exact } = await audit.count('', { signal, within: 1000 })
  return exact.total ? total : undefined
}

/** Shows the progress of the steps one after another, each with a separate rate. */
function showSteps(terminal: Terminal, events: number | undefined) {
  let step: VerifyProgress['step'] | undefined
  let shown: Progress | undefined
  return {
    update(progress: VerifyProgress): void {
      if (progress.step !== step) {
        shown?.stop()
        shown = showProgress(terminal, STEPS[progress.step])
        step = progress.step
      }
      shown!.update(progress.done, progress.total ?? (step === 'events' ? events : undefined))
    },
    stop: (): void => shown?.stop(),
  }
}

export async function run(call: Call): Promise<Exit> {
  const { options, terminal } = call
  if (options['ledger']) return verifyLedger(call)
  const other = ['head', 'key', 'since'].find((name) => options[name] !== undefined)
  if (other) throw usageError(`--${other} is only for verify --ledger`)
  const { stdout, signal } = terminal
  const { audit } = await call.openLog()
  const progress = showSteps(terminal, await countEvents(audit!, terminal))
  const { events, segments, damage } = await audit!
    .verify({ signal, onProgress: (one) => progress.update(one) })
    .finally(() => progress.stop())
  if (options['json']) {
    for (const one of damage) await write(stdout, `${JSON.stringify(readable(one))}\n`)
    const summary = { events, segments, damaged: damage.length }
    await write(stdout, `${JSON.stringify(summary)}\n`)
  } else {
    const paint = painter(stdout, terminal.env)
    for (const { place, reason, affects } of damage)
      await write(
        stdout,
        `${paint('red', visibleText(place))}: ${visibleText(reason)}; ${visibleText(affects)}\n`,
      )
    const read = `${numberText(events)} events and ${numberText(segments)} segments of the index read`
    await write(
      stdout,
      `${read}: ${damage.length === 0 ? 'no damage' : `${damage.length} damaged`}\n`,
    )
  }
  return damage.length === 0 ? 'done' : 'failed'
}
