import { vi } from 'vitest'

/** The pending timers of one folder of the source. */
export interface FolderTimers {
  /** The stacks of the calls that set them. */
  pending(): readonly string[]
}

/**
 * Fakes all timers, and returns the timers that this folder of `src` sets. Other test files in the same process may
 * have left code that also sets timers. `vi.useRealTimers` ends this.
 */
export function fakeTimersOf(folder: string): FolderTimers {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
  const stacks = new Map<unknown, string>()
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis
  const note = <Timer>(timer: Timer): Timer => {
    const stack = new Error('set here').stack!
    if (stack.includes(`/src/${folder}/`)) stacks.set(timer, stack)
    return timer
  }
  vi.stubGlobal('setTimeout', (run: () => void, ms?: number) => {
    const end = (): void => {
      stacks.delete(timer)
      run()
    }
    const timer = note(setTimeout(end, ms))
    return timer
  })
  vi.stubGlobal('setInterval', (run: () => void, ms?: number) => note(setInterval(run, ms)))
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout | undefined) => {
    stacks.delete(timer)
    clearTimeout(timer)
  })
  vi.stubGlobal('clearInterval', (timer: NodeJS.Timeout | undefined) => {
    stacks.delete(timer)
    clearInterval(timer)
  })
  return { pending: () => [...stacks.values()] }
}
