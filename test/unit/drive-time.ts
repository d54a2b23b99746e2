import { onTestFinished, vi } from 'vitest'
import { turns } from './fake-store.js'

/** From now on, time passes only by `pass`, however slow the machine is: no timed poll of a tail comes in between. */
export function driveTime(): { pass(ms: number): Promise<void> } {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  return {
    async pass(ms) {
      await turns()
      await vi.advanceTimersByTimeAsync(ms)
      await turns()
    },
  }
}
