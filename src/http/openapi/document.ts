import type { EventTypes } from '../../event/event-types.js'
import type { JsonLimits } from '../../event/json.js'
import { JSON_API } from '../problem.js'
import { type ResponseName, responses } from './responses.js'
import { COMMON_PROBLEMS, problemResponseObject, problemName } from './problems.js'
import { componentSchemas } from './schemas.js'

/** An endpoint in the OpenAPI document. */
export interface DescribedRoute {
  readonly operationId: string
  readonly method: 'GET' | 'POST'
  /** Relative to the mount path. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Keys of {@link ApiDescription.parameters}. */
  readonly parameters: readonly string[]
  readonly responses: Readonly<Record<number, ResponseName>>
  /** Error statuses in addition to those that every endpoint has. */
  readonly problems: readonly number[]
}

/** The input of {@link openApiDocument}. */
export interface ApiDescription {
  /** The mount path. */
  readonly path: string
  readonly routes: readonly DescribedRoute[]
  /** OpenAPI 3.1, "Parameter Object", by the keys that routes use. */
  readonly parameters: Readonly<Record<string, object>>
  /** Actions that the host can allow or deny. */
  readonly actions: readonly string[]
  readonly types: EventTypes
  readonly limits: JsonLimits
}

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` }) as const

const newEvent = ({ maxBytes, maxDepth }: JsonLimits) => ({
  required: true,
  description: `At most ${maxBytes} bytes and ${maxDepth} levels of nesting.`,
  content: {
    [JSON_API]: {
      schema: ref('schemas', 'NewEventDocument'),
      example: {
        data: {
          type: 'Event',
          attributes: { type: 'deploy:note', text: 'went well', project_path: '/projects/shop' },
        },
      },
    },
  },
})

function operation(route: DescribedRoute, limits: JsonLimits): object {
  const { operationId, summary, description, method } = route
  const problems = [...route.problems, ...COMMON_PROBLEMS].map((status) => [
    status,
    ref('responses', problemName(status)),
  ])
  return {
    operationId,
    summary,
    description,
    parameters: route.parameters.map((name) => ref('parameters', name)),
    ...(method === 'POST' && { requestBody: newEvent(limits) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, name]) => [status, ref('responses', name)]),
      ),
      ...Object.fromEntries(problems),
    },
  }
}

/** Any path may be unknown, and any path may not support a method. */
const EVERYWHERE = [404, 405] as const

/**
 * The OpenAPI 3.1 document of the events endpoints as they are mounted. It is built from the table of
 * routes, the registry of event types, the predicates, the link attributes and the error codes.
 */
export function openApiDocument(api: ApiDescription): object {
  const paths: Record<string, Record<string, object>> = {}
  const statuses = new Set<number>([...COMMON_PROBLEMS, ...EVERYWHERE])
  for (const route of api.routes) {
    const item = (paths[api.path + route.path] ??= {})
    item[route.method.toLowerCase()] = operation(route, api.limits)
    for (const status of route.problems) statuses.add(status)
  }
  const problems = [...statuses].map((status) => [
    problemName(status),
    problemResponseObject(status),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Audit events',
      // The version of the HTTP interface; it changes when clients must change.
      version: '1',
      description:
        'The audit events of the service, as JSON:API 1.1. Every path that supports `GET` supports ' +
        '`HEAD`. The response to an unsupported method is 405, with the supported ones in `Allow`.',
    },
    security: [{ basic: [] }],
    paths,
    components: {
      schemas: componentSchemas(api.types, api.actions),
      parameters: api.parameters,
      responses: { ...responses, ...Object.fromEntries(problems) },
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'User name and password (RFC 7617).' },
      },
    },
  }
}
