import { FORM } from '../media.js'
import { COMMON_PROBLEMS, problemName, problemResponseObject } from './problems.js'
import type { Route } from './route.js'

/** The input of {@link openApiDocument}. */
export interface ApiDescription {
  /** The mount path. */
  readonly path: string
  readonly title: string
  readonly description: string
  readonly routes: readonly Route[]
  /** OpenAPI 3.1, "Parameter Object", by the keys that routes use. */
  readonly parameters: Readonly<Record<string, object>>
  /** OpenAPI 3.1, "Schema Object". */
  readonly schemas: Readonly<Record<string, object>>
  /** OpenAPI 3.1, "Response Object", by the keys that routes use. */
  readonly responses: Readonly<Record<string, object>>
  /** OpenAPI 3.1, "Request Body Object", by the keys that routes use. */
  readonly bodies?: Readonly<Record<string, object>>
}

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` }) as const

/** OpenAPI 3.1, "Parameter Object" of a query. */
interface QueryParameter {
  readonly name: string
  readonly description: string
  readonly required?: boolean
  readonly schema: object
  readonly style?: string
  readonly explode?: boolean
}

/** A form with these parameters. */
function formBody(parameters: readonly QueryParameter[]): object {
  const properties = parameters.map(({ name, description, schema }) => [
    name,
    { ...schema, description },
  ])
  const encoding = parameters.flatMap(({ name, style, explode }) =>
    style === undefined ? [] : [[name, { style, explode }]],
  )
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties) as object,
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  }
  return {
    required: true,
    content: { [FORM]: { schema, encoding: Object.fromEntries(encoding) as object } },
  }
}

function operation(route: Route, { parameters, bodies }: ApiDescription): object {
  const { operationId, summary, description, form, body } = route
  const requestBody = form
    ? formBody(form.map((name) => parameters[name] as QueryParameter))
    : bodies?.[body ?? '']
  const problems = [...route.problems, ...COMMON_PROBLEMS].map((status) => [
    status,
    ref('responses', problemName(status)),
  ])
  return {
    operationId,
    summary,
    description,
    parameters: route.parameters.map((name) => ref('parameters', name)),
    ...(requestBody && { requestBody }),
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

/** The OpenAPI 3.1 document of endpoints as they are mounted. The error codes are those of the package. */
export function openApiDocument(api: ApiDescription): object {
  const paths: Record<string, Record<string, object>> = {}
  const statuses = new Set<number>([...COMMON_PROBLEMS, ...EVERYWHERE])
  for (const route of api.routes) {
    const item = (paths[api.path + route.path] ??= {})
    item[route.method.toLowerCase()] = operation(route, api)
    for (const status of route.problems) statuses.add(status)
  }
  const problems = [...statuses].map((status) => [
    problemName(status),
    problemResponseObject(status),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      // The version of the HTTP interface; it changes when clients must change.
      version: '1',
      description:
        `${api.description}, as JSON:API 1.1. Every path that supports \`GET\` supports ` +
        '`HEAD`. The response to an unsupported method is 405, with the supported ones in `Allow`.',
    },
    security: [{ basic: [] }],
    paths,
    components: {
      schemas: api.schemas,
      parameters: api.parameters,
      responses: { ...api.responses, ...Object.fromEntries(problems) },
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'User name and password (RFC 7617).' },
      },
    },
  }
}
