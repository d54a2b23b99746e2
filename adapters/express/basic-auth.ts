import {
  BASIC_AUTH_OPTIONS,
  basicAuth as nodeBasicAuth,
  type BasicAuthOptions,
} from '../../src/http/node/basic-auth.js'
import type { NodeMiddleware } from '../../src/http/node/node.js'
import type { ExpressRequest } from './express.js'
import { requireOptions } from '../../src/options.js'

/**
 * Middleware of Express for HTTP Basic authentication, as that of `daybook/node`. Failures are counted by
 * `request.ip`: set `trust proxy` behind a proxy.
 */
export function basicAuth(options: BasicAuthOptions): NodeMiddleware {
  requireOptions(options, BASIC_AUTH_OPTIONS, 'basicAuth')
  return nodeBasicAuth({ address: (request: ExpressRequest) => request.ip ?? '', ...options })
}
