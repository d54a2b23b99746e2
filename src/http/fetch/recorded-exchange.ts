import { readTarget } from '../node-request.js'
import type { RecordedExchange, RequestUser } from '../record/exchange.js'
import { RoutedExchange } from '../record/routed-exchange.js'
import type { SentBody } from './sent-body.js'

/** How the handler of a request ended. */
export interface Outcome {
  readonly status: number
  /** The body of the request, if the host has read it. */
  readonly sent: SentBody | undefined
}

/** A fetch request that is recorded, and its response. */
export abstract class RecordedFetchExchange<Context extends object>
  extends RoutedExchange
  implements RecordedExchange<Context>
{
  readonly context: Context
  readonly request: Request
  /** The body of the response, if its event needs it. */
  responseBody: string | undefined
  #outcome: Outcome | undefined
  #path: string | undefined

  constructor(context: Context, request: Request) {
    super()
    this.context = context
    this.request = request
  }

  abstract get address(): unknown

  abstract get username(): RequestUser

  /** The body of the request, if the host has read it. */
  abstract readBody(): Promise<SentBody | undefined>

  /** Called when the handler has ended and the route is known. */
  end(outcome: Outcome): void {
    this.#outcome = outcome
    this.forgetRoute()
  }

  get method(): string {
    return this.request.method
  }

  get path(): string {
    this.#path ??= readTarget(this.request.url).path
    return this.#path
  }

  get body(): unknown {
    return this.#outcome?.sent?.body
  }

  get files(): unknown {
    return this.#outcome?.sent?.files
  }

  get keys(): readonly object[] {
    return [this.context, this.request]
  }

  get status(): number {
    return this.#outcome?.status ?? 500
  }

  /** The server gets the response when its event has been recorded. */
  get isStarted(): boolean {
    return false
  }

  get isAborted(): boolean {
    return this.request.signal.aborted
  }

  get longBody(): unknown {
    return this.responseBody
  }

  header(name: string): string {
    return this.request.headers.get(name) ?? ''
  }
}
