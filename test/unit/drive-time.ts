import { onTestFinished, vi } from 'vitest'
import { turns } from './fake-store.js'

/** Stops time, except for `pass`. So no timed poll of a tail runs in between, also on a slow machine. */
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
