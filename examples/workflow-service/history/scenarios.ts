import { randomUUID } from 'node:crypto'

/** An event of the history. */
export interface Moment {
  /** Seconds since the moment before. */
  readonly after: number
  readonly type: string
  readonly username: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Action of a user, as the service would have recorded it. */
export type Scenario = (username: string) => readonly Moment[]

const PROJECT = { project_path: '/projects/acme' }
const PROD = { ...PROJECT, node_path: '/projects/acme/environments/prod' }

const FAILURE = 'GET /api/projects/acme/environments/prod/assets/database responded 404'

function request(method: string, path: string, status: number, body?: object): object {
  return {
    request_method: method,
    request_path: path,
    ...(body && { request_body: body }),
    response_status: status,
    duration_ms: 2.4,
    remote_address: '127.0.0.1',
  }
}

const systemMoment = (
  after: number,
  username: string | null,
  type: string,
  data: object,
): Moment => ({ after, username, type, data: { ...data } })

/** A change from its creation to its end. */
function change(
  username: string,
  name: string,
  steps: readonly string[],
  end: 'success' | 'error',
): readonly Moment[] {
  const change_id = randomUUID()
  const data = { name, change_id, ...PROD, parent: { code: 'prod', node_type: 'environment' } }
  const body = { name, node_path: PROD.node_path, steps: steps.map((step) => ({ name: step })) }
  const path = `/api/changes/${change_id}/start`
  const ran = steps.flatMap((step, i) => {
    const ofStep = { ...data, name: step, change_name: name, step_id: randomUUID() }
    const isFailing = end === 'error' && i === steps.length - 1
    return [
      systemMoment(2, username, 'api:steps:start', ofStep),
      isFailing
        ? systemMoment(20, username, 'error:step:action', { ...ofStep, error: FAILURE })
        : systemMoment(20 + 15 * i, username, 'api:steps:success', ofStep),
    ]
  })
  return [
    systemMoment(0, username, 'api:changes:create', {
      ...request('POST', '/api/changes', 201, body),
      ...data,
    }),
    systemMoment(9, username, 'api:changes:start', { ...request('POST', path, 200), ...data }),
    ...ran,
    systemMoment(1, username, `api:changes:${end}`, data),
  ]
}

const deploy: Scenario = (username) =>
  change(username, 'deploy the web server', ['write the release notes', 'roll out'], 'success')

const failingCheck: Scenario = (username) =>
  change(username, 'verify the web server', ['check the database'], 'error')

const release: Scenario = (username) => {
  const moments = change(username, 'release the web server', ['sign off', 'roll out'], 'success')
  const signOff = moments.findIndex(({ data }) => data['name'] === 'sign off')
  const { data } = moments[signOff]!
  return [
    ...moments.slice(0, signOff + 1),
    systemMoment(180, 'eve', 'audit:steps:approve:denied', data),
    systemMoment(240, 'ann', 'audit:steps:approve', data),
    ...moments.slice(signOff + 1),
  ]
}

const describeProject: Scenario = (username) => {
  const body = { description: 'The web shop and what it needs' }
  const data = { ...request('PATCH', '/api/projects/acme', 200, body), name: 'Acme', ...PROJECT }
  return [systemMoment(0, username, 'api:projects:update', data)]
}

const refusedChange: Scenario = () => [
  systemMoment(0, 'eve', 'error:projects:update', {
    ...request('PATCH', '/api/projects/acme', 403, { archived: true }),
    error: 'eve may read but not change anything',
  }),
]

const DAY: readonly Scenario[] = [
  deploy,
  describeProject,
  deploy,
  release,
  refusedChange,
  deploy,
  failingCheck,
  release,
  deploy,
  describeProject,
  deploy,
  failingCheck,
  release,
  deploy,
]

const USERS = ['ann', 'bob', 'bob', 'ann', 'bob'] as const

/** The scenarios of one day, between 8 and 18 o'clock, each with the second of the day at which it begins. */
export const scenariosOf = (
  day: number,
): readonly (readonly [second: number, Scenario, string])[] =>
  DAY.map((scenario, i) => {
    const jitter = ((i + 1) * (day + 3) * 397) % 1500
    const second = 8 * 3600 + Math.floor((i * 10 * 3600) / DAY.length) + jitter
    return [second, scenario, USERS[(i + day) % USERS.length]!]
  })
