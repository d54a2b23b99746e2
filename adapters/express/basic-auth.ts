import { nodeAuthentication } from '../../src/http/node/basic-auth.js'
import type { ExpressRequest } from './express.js'

/**
 * Middleware of Express that sets `request.username`. Failures are counted by `request.ip`: set `trust proxy` behind a proxy. Errors of
 * a `users` function are passed to `next`.
 */
export const basicAuth = /* @__PURE__ */ nodeAuthentication(({ ip }: ExpressRequest) => ip)
