import type { RecordedExchange } from './exchange.js'

const own = new WeakSet<object>()

/**
 * Returns the answer of an endpoint of the log to a request, which is not recorded from now on: the endpoint has taken it, so
 * the host does not handle it. `key` is one of its {@link RecordedExchange.keys}. If a function of the host throws, the answer
 * is the host's, and the request is recorded as any other.
 */
export async function answerOwn<Answer>(key: object, answer: Promise<Answer>): Promise<Answer> {
  own.add(key)
  try {
    return await answer
  } catch (error) {
    own.delete(key)
    throw error
  }
}

/** True for requests that an endpoint of the log answers. The path of a request does not say it: hosts may read it in another way. */
export const isOwnRequest = ({ keys }: Pick<RecordedExchange<unknown>, 'keys'>): boolean =>
  keys.some((key) => own.has(key))
