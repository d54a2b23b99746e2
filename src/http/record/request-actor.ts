import { AuditLogError } from '../../errors.js'
import { storableText } from '../../event/json-copy.js'
import { redactText } from '../../event/secret-values.js'
import {
  actorAttributes,
  type KnownActor,
  LateActor,
  type RequestIds,
} from '../../recording/actor.js'
import { callHost } from './call-host.js'
import type { RecordedExchange } from './exchange.js'
import type { RequestRecorderOptions } from './recorder-options.js'
import type { Arrival } from './request-data.js'

/** The user of a request, without attributes if they are invalid. */
export function userOf(exchange: RecordedExchange<unknown>): KnownActor {
  const user = callHost(exchange, () => exchange.username) ?? null
  if (user === null || typeof user !== 'object')
    return { actor: { username: user }, attributes: undefined }
  return { actor: user, attributes: callHost(exchange, () => actorAttributes(user)) }
}

/** The user of a request, who may be known only later, when authentication runs. */
export class RequestActor extends LateActor {
  readonly #exchange: RecordedExchange<unknown>

  constructor(exchange: RecordedExchange<unknown>) {
    super()
    this.#exchange = exchange
  }

  override read(): KnownActor {
    return userOf(this.#exchange)
  }
}

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/

function sentRequestId(exchange: RecordedExchange<unknown>): string | undefined {
  const id = exchange.header('x-request-id')
  return REQUEST_ID.test(id) ? id : undefined
}

/** Returns the id of a request in other logs; `undefined` if it has none. */
export type RequestIdOf<Context> = (exchange: RecordedExchange<Context>) => string | undefined

/** Returns a function that returns the id of a request in other logs. */
export function createRequestId<Context>(
  options: RequestRecorderOptions<Context>,
): RequestIdOf<Context> {
  return (exchange) => {
    const id: unknown = callHost(exchange, () =>
      options.requestId ? options.requestId(exchange.context) : sentRequestId(exchange),
    )
    if (typeof id === 'string') return redactText(storableText(id))
    if (id !== undefined && id !== null)
      exchange.report(
        new AuditLogError('INVALID_OPTION', 'requestId must return a text or undefined'),
      )
    return undefined
  }
}

/** The ids of a request, whose own id middleware may set later. */
export class IdsOfRequest<Context> implements RequestIds {
  readonly trace: RequestIds['trace']
  readonly #exchange: RecordedExchange<Context>
  readonly #idOf: RequestIdOf<Context>
  #id: string | undefined

  constructor(exchange: RecordedExchange<Context>, { trace }: Arrival, idOf: RequestIdOf<Context>) {
    this.trace = trace
    this.#exchange = exchange
    this.#idOf = idOf
  }

  get request_id(): string | undefined {
    this.#id ??= this.#idOf(this.#exchange)
    return this.#id
  }
}
