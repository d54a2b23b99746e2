import { AuditLogError } from '../errors.js'
import {
  type AuditHealth,
  HEALTH_OPTIONS,
  type HealthOptions,
  readHealthOptions,
} from '../health/health.js'
import type { HttpRequest, HttpResponse } from './exchange.js'
import { checkHostFunctions } from './host-functions.js'
import { HttpProblem, problemResponse } from './problem.js'
import { rethrow } from './thrown-error.js'
import { checkOptions, type OptionNames } from '../options.js'

/** The part of an audit log that probes need. */
export interface HealthAudit {
  health(options?: HealthOptions): Promise<AuditHealth>
}

export interface HealthEndpointOptions<Context> extends HealthOptions {
  /**
   * The probes are at `<path>/live` and `<path>/ready`. It is the full path that clients send, even if the
   * host mounts the handler under a prefix.
   * @default '/health'
   */
  readonly path?: string
  /**
   * Returns `true` to show the whole result of `audit.health()` in the response to this request, and not only its status.
   * Any other value hides it. Errors go to the host's error handling.
   * @default never
   */
  details?(context: Context): boolean | Promise<boolean>
}

const ENDPOINT_OPTIONS: OptionNames<HealthEndpointOptions<unknown>> = {
  ...HEALTH_OPTIONS,
  path: true,
  details: true,
}

const DEFAULT_HEALTH_PATH = '/health'

/** https://datatracker.ietf.org/doc/html/draft-inadarei-api-health-check-06 */
const HEALTH_JSON = 'application/health+json'

const respond = (health: Pick<AuditHealth, 'status'>): HttpResponse => ({
  status: health.status === 'fail' ? 503 : 200,
  headers: { 'content-type': HEALTH_JSON, 'cache-control': 'no-store' },
  body: JSON.stringify(health),
})

/** The paths that the endpoint serves: that of liveness, then that of readiness. */
function healthPaths({
  path = DEFAULT_HEALTH_PATH,
}: Pick<HealthEndpointOptions<never>, 'path'>): readonly [live: string, ready: string] {
  if (typeof path !== 'string' || !/^\/[^/]/.test(path) || path.endsWith('/'))
    throw new AuditLogError(
      'INVALID_OPTION',
      `path must be an absolute path without a slash at its end, such as ${DEFAULT_HEALTH_PATH}; it is ${JSON.stringify(path)}`,
    )
  return [`${path}/live`, `${path}/ready`]
}

/**
 * Answers probes without authentication, independently of the HTTP server: `<path>/live` with 200 as long as
 * the process serves requests, `<path>/ready` with 503 while the status of the log is `fail`, else with 200.
 * Returns `undefined` synchronously for other paths. Probes that arrive while the log is checked share the
 * result.
 */
export function healthEndpoint<Context>(
  audit: HealthAudit,
  options: HealthEndpointOptions<Context> = {},
): (request: HttpRequest<Context>) => Promise<HttpResponse> | undefined {
  checkOptions(options, ENDPOINT_OPTIONS, 'auditHealth')
  const [live, ready] = healthPaths(options)
  const limits = readHealthOptions(options)
  checkHostFunctions(options, 'details')

  let running: Promise<AuditHealth> | undefined
  const check = (): Promise<AuditHealth> => {
    running ??= audit.health(limits).finally(() => (running = undefined))
    return running
  }

  const answer = async ({ method, path, context }: HttpRequest<Context>): Promise<HttpResponse> => {
    if (method !== 'GET' && method !== 'HEAD')
      return problemResponse(
        new HttpProblem('METHOD_NOT_ALLOWED', `${path} takes GET, HEAD`, {
          headers: { allow: 'GET, HEAD' },
        }),
      )
    if (path === live) return respond({ status: 'pass' })
    const isShown = (await options.details?.(context)) === true
    const health = await check()
    return respond(isShown ? health : { status: health.status })
  }

  return (request) =>
    request.path === live || request.path === ready ? answer(request).catch(rethrow) : undefined
}
