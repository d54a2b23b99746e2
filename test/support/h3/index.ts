import * as mounting from '../../../src/http/mounting/mounts.js'
import { type H3Event, type H3Handler, host, listHandler } from './h3.js'

/* An adapter for a seventh framework, as `adapters/hono` is one. It shows what a framework takes. */

export type { H3Event, H3Middleware } from './h3.js'
export { basicAuth } from './basic-auth.js'
export { assertCoverage } from './coverage.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'

export const auditHealth = mounting.auditHealth(host)
export const auditPage = mounting.auditPage(host)
export const auditRoutes = mounting.auditRoutes(host)
export const logRoutes = mounting.logRoutes(host)
export const subscriptionRoutes = mounting.subscriptionRoutes(host)
export const viewRoutes = mounting.viewRoutes(host)
export const listRoute = mounting.listRoute<H3Event, H3Handler>(listHandler)
