import { RecordedFetchExchange } from '../../src/http/fetch/recorded-exchange.js'
import { type SentBody, sentBody } from '../../src/http/fetch/sent-body.js'
import type { MatchedRoute, RequestUser } from '../../src/http/record/exchange.js'
import { isMutating } from '../../src/http/record/route-type.js'
import type { FetchRequest } from './fetch.js'
import { pathParameters } from './path-parameters.js'

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

/** Facts about a request that the options return. */
export interface RequestFacts {
  readonly address: () => unknown
  readonly username: () => RequestUser
  /** The path of the route, with its parameters. */
  readonly route: () => string | undefined
}

export class PlainExchange extends RecordedFetchExchange<FetchRequest> {
  readonly #facts: RequestFacts
  readonly #body: (() => unknown) | undefined

  constructor(request: FetchRequest, facts: RequestFacts) {
    super(request, request)
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
    const path = this.#facts.route()
    return path === undefined ? undefined : { path, params: pathParameters(path, this.path) }
  }

  async readBody(): Promise<SentBody> {
    return sentBody(this.#body?.(), this.request.headers.get('content-type'))
  }
}
