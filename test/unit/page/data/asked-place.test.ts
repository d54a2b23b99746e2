import type * as askedPlace from '../../../../adapters/page/data/asked-place.js'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

/* Two windows of a browser without locks. Each has its own copy of the module. */

type Listener = (event: { readonly data: unknown }) => void

/** A channel whose messages arrive when `deliver` is called. */
class Channel {
  static all: Channel[] = []
  static waiting: (() => void)[] = []
  readonly listeners: Listener[] = []
  constructor() {
    Channel.all.push(this)
  }
  addEventListener(_: 'message', listener: Listener): void {
    this.listeners.push(listener)
  }
  postMessage(data: unknown): void {
    for (const other of Channel.all)
      if (other !== this)
        for (const listener of other.listeners) Channel.waiting.push(() => listener({ data }))
  }
}

function deliver(): void {
  while (Channel.waiting.length > 0) Channel.waiting.shift()!()
}

type Window = Pick<typeof askedPlace, 'askForPlace'>

async function openWindow(): Promise<Window> {
  vi.resetModules()
  return import('../../../../adapters/page/data/asked-place.js')
}

/** Asks for one of two places. Messages arrive at once, or after the window has decided. */
async function ask({ askForPlace }: Window, lose = vi.fn(), isLate = false) {
  const asked = askForPlace(2, lose)
  if (!isLate) deliver()
  await vi.advanceTimersByTimeAsync(1000)
  const release = await asked
  deliver()
  return { release, lose }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('BroadcastChannel', Channel)
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
  Channel.all = []
  Channel.waiting = []
})

it('gives each window a place until all are taken, and a released place to the next window', async () => {
  const windows = [await openWindow(), await openWindow(), await openWindow()] as const
  const first = await ask(windows[0])
  const second = await ask(windows[1])
  expect((await ask(windows[2])).release).toBeUndefined()
  first.release!()
  deliver()
  expect((await ask(windows[2])).release).toBeDefined()
  expect([first.lose, second.lose].flatMap(({ mock }) => mock.calls)).toEqual([])
})

it('takes a place from the later of two windows, which then takes another one', async () => {
  const first = await ask(await openWindow())
  vi.advanceTimersByTime(5)
  const other = await openWindow()
  const second = await ask(other, vi.fn(), true)
  expect(second.lose).toHaveBeenCalledOnce()
  // The first window is still slow to answer, but its place is known.
  const again = await ask(other, vi.fn(), true)
  expect(again.lose).not.toHaveBeenCalled()
  expect(first.lose).not.toHaveBeenCalled()
  // A lost place is not released.
  second.release!()
  deliver()
  expect((await ask(await openWindow())).release).toBeUndefined()
})

it('forgets the place of a window that ends without a release', async () => {
  const windows = [await openWindow(), await openWindow(), await openWindow()] as const
  await ask(windows[0])
  await ask(windows[1])
  expect((await ask(windows[2])).release).toBeUndefined()
  Channel.all.shift()
  expect((await ask(windows[2])).release).toBeUndefined()
  vi.advanceTimersByTime(15_000)
  expect((await ask(windows[2])).release).toBeDefined()
})
