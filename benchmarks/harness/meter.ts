import fs from 'node:fs'
import { quantile } from 'simple-statistics'
import type { EventStore } from 'daybook'

/* Measures calls in the process that makes them. */

export interface TrialResult {
  readonly eventsPerSecond: number
  /** Milliseconds from a call to its result; NaN if no call ended in the measured time. */
  readonly p50: number
  readonly p99: number
  /** Mean number of events in a commit. */
  readonly meanBatch: number
  /** Microseconds of processor time per event, which do not depend on the disk as the rate does. */
  readonly cpu: number
  /** The part of `cpu` that the thread of the calls takes; `undefined` where the system does not tell. */
  readonly callerCpu: number | undefined
  /** Event loop delay in milliseconds, where it is measured. */
  readonly blockedP99?: number
}

export interface Meter {
  /** As of the last time that a method read the clock. */
  readonly isOver: boolean
  /** Reads the clock. A loop that may call no other method calls this one. */
  check(): void
  /** Reads the clock, and counts a call that started at `start` and recorded `events` events. */
  finished(start: number, events: number): void
  /** Counts events of a call that is not timed. Does not read the clock. */
  counted(events: number): void
  /** Reads the clock. */
  committed(events: number): void
  result(): TrialResult
}

/** Nanoseconds of processor time of this thread; `undefined` where the system does not tell. */
function threadCpu(): number | undefined {
  try {
    return Number(fs.readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0])
  } catch {
    return undefined
  }
}

/** Measures for `seconds`, after a warm-up of a third of that. */
export function createMeter(seconds: number): Meter {
  const begin = performance.now() + (seconds * 1000) / 3
  const end = begin + seconds * 1000
  const latencies: number[] = []
  let events = 0
  let commits = 0
  let committed = 0
  let cpuAtBegin: NodeJS.CpuUsage | undefined
  let cpu = { user: 0, system: 0 }
  let callerCpuAtBegin: number | undefined
  let callerCpuAtEnd: number | undefined
  let isMeasuring = false
  let isOver = false
  const readClock = (): number => {
    const now = performance.now()
    isMeasuring = now >= begin && now < end
    isOver = now >= end
    if (isOver) callerCpuAtEnd ??= threadCpu()
    return now
  }
  return {
    get isOver() {
      return isOver
    },
    check: () => void readClock(),
    finished(start, count) {
      const now = readClock()
      if (!isMeasuring) return
      latencies.push(now - start)
      events += count
    },
    counted(count) {
      if (isMeasuring) events += count
    },
    committed(count) {
      readClock()
      if (!isMeasuring) return
      cpu = process.cpuUsage(cpuAtBegin)
      // The first commit may have begun during the warm-up.
      if (!cpuAtBegin) {
        cpuAtBegin = cpu
        callerCpuAtBegin = threadCpu()
        return
      }
      commits++
      committed += count
    },
    result() {
      const callerCpu =
        callerCpuAtBegin !== undefined && callerCpuAtEnd !== undefined
          ? (callerCpuAtEnd - callerCpuAtBegin) / 1000 / committed
          : undefined
      return {
        eventsPerSecond: events / seconds,
        p50: latencies.length > 0 ? quantile(latencies, 0.5) : NaN,
        p99: latencies.length > 0 ? quantile(latencies, 0.99) : NaN,
        meanBatch: committed / commits,
        cpu: (cpu.user + cpu.system) / committed,
        callerCpu,
      }
    },
  }
}

/** From so many callers on, only some calls are timed. */
const MANY_CALLERS = 64
/** One of so many calls is timed: reading the clock for each would slow the calls down. */
export const TIMED_CALLS = 16

/** Calls `call` from `callers` concurrent callers, each in a loop, until the measurement is over. */
export async function callConcurrently(
  meter: Meter,
  callers: number,
  call: (caller: number) => Promise<number>,
): Promise<void> {
  const untimed = callers < MANY_CALLERS ? 0 : TIMED_CALLS - 1
  const callInLoop = async (_: unknown, caller: number): Promise<void> => {
    while (!meter.isOver) {
      const start = performance.now()
      meter.finished(start, await call(caller))
      for (let i = 0; i < untimed && !meter.isOver; i++) meter.counted(await call(caller))
    }
  }
  await Promise.all(Array.from({ length: callers }, callInLoop))
}

/** The same store; `committed` is called with the number of events of each commit. */
export function withCommitHook(store: EventStore, committed: (events: number) => void): EventStore {
  return {
    ...store,
    async append(drafts, options) {
      const events = await store.append(drafts, options)
      committed(drafts.length)
      return events
    },
  }
}
