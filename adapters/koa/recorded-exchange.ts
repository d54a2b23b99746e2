import type { IsSecret } from '../../src/event/secrets.js'
import type {
  Range,
  RecordedExchange,
  RecordedRoute,
  RequestUser,
} from '../../src/http/record/exchange.js'
import { MAX_LIST_BYTES, readableText } from '../../src/http/record/response-text.js'
import { thrownError } from '../../src/http/thrown-error.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { foundUser, targetOf } from './exchange.js'
import { handlingRoute } from './handling-route.js'
import type { RoutedContext } from './koa.js'
import { secretRanges } from './secret-ranges.js'

/** A request of Koa. A class, so that no object with getters is made for each request. */
export class KoaExchange implements RecordedExchange<RoutedContext> {
  readonly context: RoutedContext
  readonly #options: UsernameOption<RoutedContext, RequestUser>

  constructor(context: RoutedContext, options: UsernameOption<RoutedContext, RequestUser>) {
    this.context = context
    this.#options = options
  }

  get method(): string {
    return this.context.method
  }

  get path(): string {
    return targetOf(this.context).path
  }

  get address(): string {
    return this.context.ip
  }

  get username(): RequestUser {
    return usernameOf(this.context, this.#options, foundUser)
  }

  get body(): unknown {
    return (this.context.request as { readonly body?: unknown }).body
  }

  get files(): unknown {
    const { file, files } = this.context.request as { readonly file?: unknown; files?: unknown }
    return [file, files]
  }

  get params(): object {
    return this.context.params ?? {}
  }

  get route(): RecordedRoute | undefined {
    return handlingRoute(this.context)
  }

  get keys(): readonly object[] {
    return [this.context.req]
  }

  get status(): number {
    return this.context.res.statusCode
  }

  get isStarted(): boolean {
    return this.context.res.headersSent
  }

  get isAborted(): boolean {
    const { res } = this.context
    return res.destroyed && !res.writableFinished
  }

  get responseBody(): unknown {
    return this.context.body
  }

  get longBody(): unknown {
    const { body } = this.context
    return readableText(body, MAX_LIST_BYTES) ?? body
  }

  header(name: string): string {
    return this.context.get(name)
  }

  secretRanges(isSecret: IsSecret): readonly Range[] {
    const { matched = [] } = this.context
    const { path } = this
    return matched.flatMap((layer) => secretRanges(layer, path, isSecret))
  }

  report(error: unknown): void {
    this.context.app.emit('error', thrownError(error), this.context)
  }
}
