import { isUnder, mountsOf } from '../mounts.js'
import type { RecordedExchange } from './exchange.js'

const own = new WeakSet<object>()

/** Marks a request, by its {@link RecordedExchange.key}, that was handled by an endpoint of the log. */
export function markAsOwn(key: object): void {
  own.add(key)
}

/**
 * True for requests to the log's own endpoints and page, which are not recorded, including those that
 * authentication has refused.
 */
export function isOwnRequest(
  audit: object,
  { key, path }: Pick<RecordedExchange<unknown>, 'key' | 'path'>,
): boolean {
  return own.has(key) || mountsOf(audit).some((mount) => isUnder(path, mount.path))
}
