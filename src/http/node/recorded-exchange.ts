import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { readTarget } from '../node-request.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import type { MatchedRoute, RecordedExchange, RequestUser } from '../record/exchange.js'
import { RoutedExchange } from '../record/routed-exchange.js'
import { MAX_LIST_BYTES, readableText } from '../record/response-text.js'

/** The part of a request that all frameworks on `node:http` have. */
export interface SentRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The URL as sent by the client; `url` may lack a mount path. */
  readonly originalUrl?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body?: unknown
  /** Files, as middleware for multipart requests sets them. */
  readonly file?: unknown
  readonly files?: unknown
  /** The request of `node:http`, where a framework has one of its own. Express-like middleware gets it. */
  readonly raw?: object | undefined
}

/** Methods that depend on the framework of a service. */
export interface NodeHost<Request> {
  address(request: Request): unknown
  route(request: Request): MatchedRoute | undefined
  /** @default what middleware has set */
  readonly body?: (request: Request) => unknown
  readonly files?: (request: Request) => unknown
}

/** A request of a framework on `node:http`. A class, so that no object with getters is made for each request. */
export class RecordedNodeExchange<Request extends SentRequest>
  extends RoutedExchange
  implements RecordedExchange<Request>
{
  readonly context: Request
  readonly #response: ServerResponse
  readonly #host: NodeHost<Request>
  readonly #options: UsernameOption<Request, RequestUser>
  #chunk: unknown

  constructor(
    request: Request,
    response: ServerResponse,
    host: NodeHost<Request>,
    options: UsernameOption<Request, RequestUser>,
  ) {
    super()
    this.#options = options
    this.context = request
    this.#response = response
    this.#host = host
  }

  /** Called at the end of the response, when the route is known. */
  end(chunk: unknown): void {
    this.#chunk = chunk
    this.forgetRoute()
  }

  get method(): string {
    return this.context.method ?? ''
  }

  get path(): string {
    return readTarget(this.context.originalUrl ?? this.context.url ?? '').path
  }

  get address(): unknown {
    return this.#host.address(this.context)
  }

  get username(): RequestUser {
    return usernameOf(this.context, this.#options)
  }

  get body(): unknown {
    return this.#host.body ? this.#host.body(this.context) : this.context.body
  }

  get files(): unknown {
    const { file, files } = this.context
    return this.#host.files ? this.#host.files(this.context) : [file, files]
  }

  get keys(): readonly object[] {
    const { raw } = this.context
    return raw ? [this.context, raw] : [this.context]
  }

  get status(): number {
    return this.#response.statusCode
  }

  get isStarted(): boolean {
    return this.#response.headersSent
  }

  get isAborted(): boolean {
    const { destroyed, writableFinished } = this.#response
    const { stream } = this.#response as { stream?: { readonly aborted?: boolean } }
    return stream?.aborted ?? (destroyed && !writableFinished)
  }

  /** The last chunk, which is the whole body of most refusals. */
  get responseBody(): unknown {
    return readableText(this.#chunk)
  }

  get longBody(): unknown {
    return readableText(this.#chunk, MAX_LIST_BYTES)
  }

  header(name: string): string {
    return String(this.context.headers[name] ?? '')
  }

  protected findRoute(): MatchedRoute | undefined {
    return this.#host.route(this.context)
  }
}
