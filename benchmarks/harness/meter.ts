import type { EventStore } from 'daybook'

/* How fast calls are answered, measured in the process that makes them. */

export interface TrialResult {
  readonly eventsPerSecond: number
  /** Milliseconds from the call to its answer. */
  readonly p50: number
  readonly p99: number
  /** Events that shared a commit, on average. */
  readonly meanBatch: number
  /** Microseconds of processor time for one event: unlike the rate, no matter of the disk. */
  readonly cpu: number
  /** Milliseconds in which the event loop had no turn, where that is watched. */
  readonly blockedP99?: number
}

export interface Meter {
  isOver(): boolean
  /** Takes note of a finished call of `events` events that began at `start`. */
  finished(start: number, events: number): void
  committed(events: number): void
  result(): TrialResult
}

/** The value that the given share of the sorted values stays below. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** For `seconds`, after a third of that to warm up. */
export function createMeter(seconds: number): Meter {
  const begin = performance.now() + (seconds * 1000) / 3
  const end = begin + seconds * 1000
  const latencies: number[] = []
  let events = 0
  let commits = 0
  let committed = 0
  let cpuAtBegin: NodeJS.CpuUsage | undefined
  let cpu = { user: 0, system: 0 }
  const isMeasured = (now: number): boolean => now >= begin && now < end
  return {
    isOver: () => performance.now() >= end,
    finished(start, count) {
      const now = performance.now()
      if (!isMeasured(now)) return
      latencies.push(now - start)
      events += count
    },
    committed(count) {
      if (!isMeasured(performance.now())) return
      cpu = process.cpuUsage(cpuAtBegin)
      // Of the first commit only the end is seen.
      if (!cpuAtBegin) {
        cpuAtBegin = cpu
        return
      }
      commits++
      committed += count
    },
    result() {
      const sorted = Float64Array.from(latencies).toSorted()
      return {
        eventsPerSecond: events / seconds,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
        meanBatch: committed / commits,
        cpu: (cpu.user + cpu.system) / committed,
      }
    },
  }
}

/** The same store, but `committed` is told how many events each commit took. */
export function metered(store: EventStore, committed: (events: number) => void): EventStore {
  return {
    name: store.name,
    maxBatch: store.maxBatch,
    clock: store.clock,
    async append(drafts, options) {
      const events = await store.append(drafts, options)
      committed(drafts.length)
      return events
    },
    importEvents: (events, options) => store.importEvents(events, options),
    get: (id, options) => store.get(id, options),
    list: (query, options) => store.list(query, options),
    count: (query, options) => store.count(query, options),
    removeBefore: (time, options) => store.removeBefore(time, options),
    remove: (ids, options) => store.remove(ids, options),
    excess: (bounds, options) => store.excess(bounds, options),
    reportSuppressed: (report, options) => store.reportSuppressed(report, options),
    recordSuppressed: (draftOf, options) => store.recordSuppressed(draftOf, options),
    updateState: (key, change, options) => store.updateState(key, change, options),
    changeLive: (id, change, options) => store.changeLive(id, change, options),
    touchLive: (ids, options) => store.touchLive(ids, options),
    closeLive: (id, change, options) => store.closeLive(id, change, options),
    openEvents: (options) => store.openEvents(options),
    watch: (hint) => store.watch(hint),
    close: () => store.close(),
  }
}
