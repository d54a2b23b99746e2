import { RecordedFetchExchange } from './recorded-exchange.js'
import { type SentBody, sentBody } from './sent-body.js'
import type { MatchedRoute, RequestUser } from '../record/exchange.js'
import { isMutating } from '../record/route-type.js'

const READING_METHODS = ['json', 'text', 'formData'] as const

/** Keeps what these methods of the request return. */
function keepBody(request: Request): () => unknown {
  let body: unknown
  for (const name of READING_METHODS) {
    const read = request[name].bind(request)
    Object.defineProperty(request, name, {
      configurable: true,
      writable: true,
      value: async () => {
        const value = await read()
        body = value
        return value
      },
    })
  }
  return () => body
}

/** Facts about a request that the host or its framework gives. */
export interface RequestFacts {
  readonly address: () => unknown
  readonly username: () => RequestUser
  readonly route: () => MatchedRoute | undefined
}

/** A request whose body is what its own methods have returned to the host. */
export class PlainExchange<Context extends object> extends RecordedFetchExchange<Context> {
  readonly #facts: RequestFacts
  readonly #body: (() => unknown) | undefined

  constructor(context: Context, request: Request, facts: RequestFacts) {
    super(context, request)
    this.#facts = facts
    this.#body = isMutating(request.method) ? keepBody(request) : undefined
  }

  get address(): unknown {
    return this.#facts.address()
  }

  get username(): RequestUser {
    return this.#facts.username()
  }

  protected findRoute(): MatchedRoute | undefined {
    return this.#facts.route()
  }

  async readBody(): Promise<SentBody> {
    return sentBody(this.#body?.(), this.request.headers.get('content-type'))
  }
}
