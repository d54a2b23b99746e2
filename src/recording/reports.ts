import type { JsonObject } from '../event/event.js'
import { formatTimestamp } from '../event/timestamp.js'
import type { ClockDoubt } from '../store/clock-guard.js'
import type { Damage } from '../store/damage.js'
import { readImported } from '../store/imported.js'
import type { EventStore } from '../store/store.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { warn } from '../async/warn.js'

// Maximum number of damaged places that are reported. `verify` returns all of them.
const MAX_REPORTED = 1000
/** Maximum number of places in one event. */
const MAX_LISTED = 100

type RecordReport = (type: string, data: JsonObject) => Promise<unknown>

/** The attributes of `warn:audit_log:damage`. */
const damageData = (damages: readonly Damage[]): JsonObject => ({
  count: damages.length,
  places: damages.slice(0, MAX_LISTED).map(({ kind, place, reason, affects, id, from, to }) => ({
    kind,
    place,
    reason,
    affects,
    ...(id !== undefined && { event_id: id }),
    ...(from !== undefined && { from: timeOf(from) }),
    ...(to !== undefined && { to: timeOf(to) }),
  })),
})

/** The time as text. Returns the number itself if it is out of range, because it may be damaged. */
function timeOf(time: number): string | number {
  try {
    return formatTimestamp(time)
  } catch {
    return time
  }
}

/**
 * Reports damage that the store finds until `close`: calls `damaged` once for each place, and records places that are found together
 * in one event.
 */
export function reportDamage(
  store: EventStore,
  damaged: (damage: Damage) => void,
  record: RecordReport,
): { close(): Promise<void> } {
  const known = new Set<string>()
  let found: Damage[] = []

  const recordFound = (): void => {
    const damages = found
    found = []
    // If recording fails, the listeners and the process warning still report the damage.
    record('warn:audit_log:damage', damageData(damages)).catch(() => {})
  }

  const end = store.watchDamage?.((damage) => {
    if (known.has(damage.place) || known.size >= MAX_REPORTED) return
    known.add(damage.place)
    damaged(damage)
    if (store.readOnly) return
    if (found.length === 0) queueMicrotask(recordFound)
    found.push(damage)
  })
  return { close: async () => end?.() }
}

export const damageText = ({ place, reason, affects }: Damage): string =>
  `the audit log is damaged: ${place}: ${reason}; ${affects}`

/** The attributes of `warn:audit_log:clock`. */
const clockData = ({ reason, clock, expected }: ClockDoubt): JsonObject => ({
  reason,
  clock_time: formatTimestamp(clock),
  expected_time: formatTimestamp(expected),
})

const clockText = ({ reason, clock, expected }: ClockDoubt): string => {
  const times = `the clock of the audit log reads ${formatTimestamp(clock)}`
  return reason === 'jump'
    ? `${times}, ${formatTimestamp(expected)} was expected`
    : `${times}, and its newest event is from ${formatTimestamp(expected)}`
}

const READ_MS = 5000

/** True if an import stored the newest event of the log. The time of such an event is no evidence about the clock. */
async function isOfImport(store: EventStore, { reason, expected }: ClockDoubt): Promise<boolean> {
  if (reason !== 'start') return false
  using wait = timeoutSignal(READ_MS)
  const { imported } = await readImported(store, { signal: wait.signal })
  return imported?.newest === null || imported?.newest === formatTimestamp(expected)
}

/**
 * Records an event for each reading of the clock that the store doubts, unless the doubt comes from an import. Emits
 * a process warning if recording fails. Calls `noteDoubt`. `flush` resolves when the reports so far are done; `close`
 * also ends them.
 */
export function reportClock(
  store: EventStore,
  noteDoubt: (doubt: ClockDoubt) => Promise<void>,
  record: RecordReport,
): { flush(): Promise<unknown>; close(): Promise<unknown> } {
  let reported: Promise<unknown> = Promise.resolve()
  const recordDoubt = async (doubt: ClockDoubt): Promise<void> => {
    if (!(await isOfImport(store, doubt).catch(() => false)))
      await record('warn:audit_log:clock', clockData(doubt))
  }
  const report = (doubt: ClockDoubt): void => {
    // The store may be in the middle of a transaction.
    queueMicrotask(() => {
      const recorded = recordDoubt(doubt).catch(() => warn(clockText(doubt)))
      reported = Promise.all([reported, recorded])
      // If this fails, a cleaning rule that has already run finds the doubt itself.
      noteDoubt(doubt).catch(() => {})
    })
  }
  const end = store.readOnly ? undefined : store.watchClock?.(report)
  return {
    flush: () => reported,
    close() {
      end?.()
      return reported
    },
  }
}
