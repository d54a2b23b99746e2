import { callInTurns } from '../../async/in-turns.js'

/** An object that a shared timer calls once per period. */
export interface Ticked {
  tick(): void
}

/** A shared timer. */
export interface KeepAliveTimer {
  /** Safe to call twice. */
  add(ticked: Ticked): void
  /** Safe to call twice. */
  delete(ticked: Ticked): void
}

const tick = (ticked: Ticked): void => ticked.tick()

/** Shorter than the usual idle timeouts of proxies. */
const KEEP_ALIVE_MS = 15_000

/** The timer runs while there is something to call. */
export function createKeepAliveTimer(periodMs = KEEP_ALIVE_MS): KeepAliveTimer {
  const all = new Set<Ticked>()
  let timer: NodeJS.Timeout | undefined
  return {
    add(ticked) {
      all.add(ticked)
      timer ??= setInterval(() => void callInTurns(all, tick), periodMs)
    },
    delete(ticked) {
      all.delete(ticked)
      if (all.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
  }
}

/** How items become the chunks of a stream. One for many streams, as each of them keeps it. */
export interface Rendering<Item, Chunk> {
  /** Sent before the items. */
  readonly first?: Chunk
  /** Sent at each tick of the timer while nothing else is to be sent. */
  readonly comment: Chunk
  readonly timer: KeepAliveTimer
  chunkOf(item: Item): Chunk | Promise<Chunk>
  /** True if this error of the items ends the stream normally. */
  isEnd(error: unknown): boolean
}

/** Result of `next()`, or its error. */
type Outcome<Chunk> = { readonly result: IteratorResult<Chunk, void> } | { readonly error: unknown }

const END = { result: { done: true, value: undefined } } as const

interface Consumer<Chunk> {
  readonly resolve: (result: IteratorResult<Chunk, void>) => void
  readonly reject: (error: unknown) => void
}

/**
 * The chunks of the items, and a comment at each tick of the timer while the consumer waits for the next chunk. An item is
 * requested only when the consumer asks for a chunk; a consumer that does not ask gets no comments either.
 *
 * A class, because a process may have thousands of idle streams, and each generator takes more than a kilobyte of one.
 */
export class KeptAlive<Item, Chunk> implements AsyncIterableIterator<Chunk, void, void> {
  readonly #items: AsyncGenerator<Item, void, void>
  readonly #rendering: Rendering<Item, Chunk>
  #isBegun = false
  #isRequested = false
  #isOver = false
  /** Outcome for the next call; it arrived between two calls. */
  #outcome: Outcome<Chunk> | undefined
  #waiting: Consumer<Chunk> | undefined

  constructor(items: AsyncGenerator<Item, void, void>, rendering: Rendering<Item, Chunk>) {
    this.#items = items
    this.#rendering = rendering
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Chunk, void>> {
    const outcome = this.#outcome ?? (this.#isOver ? END : undefined)
    if (outcome) {
      this.#outcome = undefined
      return 'error' in outcome ? Promise.reject(outcome.error) : Promise.resolve(outcome.result)
    }
    if (!this.#isBegun) {
      this.#isBegun = true
      const { first, timer } = this.#rendering
      timer.add(this)
      if (first !== undefined) return Promise.resolve({ done: false, value: first })
    }
    if (!this.#isRequested) this.#request()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  async return(): Promise<IteratorResult<Chunk, void>> {
    this.#end(END)
    await this.#items.return()
    return END.result
  }

  /** Called by the timer. */
  tick(): void {
    this.#waiting?.resolve({ done: false, value: this.#rendering.comment })
    this.#waiting = undefined
  }

  #request(): void {
    this.#isRequested = true
    this.#items.next().then(
      (result) => this.#render(result),
      (error: unknown) => this.#end(this.#rendering.isEnd(error) ? END : { error }),
    )
  }

  #render(result: IteratorResult<Item, void>): void {
    if (result.done) return this.#end(END)
    try {
      const chunk = this.#rendering.chunkOf(result.value)
      if (!(chunk instanceof Promise)) return this.#send(chunk)
      chunk.then(
        (sent) => this.#send(sent),
        (error: unknown) => this.#fail(error),
      )
    } catch (error) {
      this.#fail(error)
    }
    return undefined
  }

  #send(value: Chunk): void {
    if (this.#isOver) return
    this.#isRequested = false
    this.#settle({ result: { done: false, value } })
  }

  /** The items are not at their end yet. */
  #fail(error: unknown): void {
    this.#end({ error })
    void this.#items.return()
  }

  #end(outcome: Outcome<Chunk>): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#rendering.timer.delete(this)
    this.#settle(outcome)
  }

  #settle(outcome: Outcome<Chunk>): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (!waiting) this.#outcome = outcome
    else if ('error' in outcome) waiting.reject(outcome.error)
    else waiting.resolve(outcome.result)
  }
}
