/* Measures how fast events arrive, after a warm-up. */

export interface Throughput {
  readonly eventsPerSecond: number
  /** Microseconds of processor time of the process, per event. */
  readonly cpu: number
}

export interface Counter {
  /** Counts events that have arrived. Returns true once there are enough. */
  add(events: number): boolean
  result(): Throughput
}

export function createCounter(warmUp: number, events: number): Counter {
  let arrived = 0
  let begin: { readonly arrived: number; readonly at: number; cpu: NodeJS.CpuUsage } | undefined
  let end = { at: 0, cpu: { user: 0, system: 0 } }
  return {
    add(count) {
      arrived += count
      if (arrived < warmUp) return false
      begin ??= { arrived, at: performance.now(), cpu: process.cpuUsage() }
      if (arrived < warmUp + events) return false
      end = { at: performance.now(), cpu: process.cpuUsage(begin.cpu) }
      return true
    },
    result() {
      const counted = arrived - begin!.arrived
      return {
        eventsPerSecond: (counted / (end.at - begin!.at)) * 1000,
        cpu: (end.cpu.user + end.cpu.system) / counted,
      }
    },
  }
}
