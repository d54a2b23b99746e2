import type { Session } from './session.js'
import type { SessionReader } from './waiting-readers.js'

/**
 * A reader of a session, from its creation until its signal aborts or it leaves. This is a class, because a process
 * may have thousands of readers, and closures would take several times the memory.
 */
export class Reader implements SessionReader {
  readonly session: Session
  readonly #signal: AbortSignal
  #wake: (() => void) | undefined

  constructor(session: Session, signal: AbortSignal) {
    this.session = session
    this.#signal = signal
    session.join(this)
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this, { once: true })
  }

  /** Called when the signal aborts. */
  handleEvent(): void {
    this.leave()
    this.wake()
  }

  wake(): void {
    this.#wake?.()
  }

  /** Safe to call twice. */
  leave(): void {
    this.#signal.removeEventListener('abort', this)
    this.session.leave(this)
  }

  /** Resolves when the session has something new, or the signal aborts. */
  sleep(): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#wake = resolve
      this.session.waiting.add(this)
    })
  }

  /** Like `sleep`, but also resolves after `ms`. */
  async sleepAtMost(ms: number): Promise<void> {
    const timer = setTimeout(() => this.wake(), ms)
    await this.sleep()
    clearTimeout(timer)
    this.session.waiting.delete(this)
  }
}
