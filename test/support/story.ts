import { type AuditEvent, formatTimestamp, type JsonObject } from 'daybook'

/*
 * One day of a workflow service, always the same, for screenshots and for tests of the audit page. The latest events
 * are a night of failures and the day after.
 */

interface StoryEvent {
  /** Seconds before the end of the story. */
  readonly ago: number
  readonly type: string
  readonly username?: string
  readonly system?: false
  readonly source?: string
  readonly attributes?: JsonObject
}

const PROJECT = '/api/projects/acme'
const CHANGE = '0199f08e-11f4-7b90-a3c8-0d5e7f2a9b64'
const STEP = '0199f09d-5b1e-7c41-8d20-6a4f3e9b1c77'
const VERSION = '0199f1a6-02cc-7d14-9a55-8e0b6c3d7f21'
const ofChange = { change_id: CHANGE, change_name: 'nightly-2211', project_code: 'acme' }
const ofStep = (name: string): JsonObject => ({ name, ...ofChange, step_id: STEP })

const BACKTRACE = [
  "actions/warm_cache.rb:41:in 'connect'",
  "actions/warm_cache.rb:18:in 'warm'",
  ...Array.from({ length: 9 }, (_, n) => `/gems/net-2.1.0/lib/net/pool.rb:${n + 20}:in 'with'`),
  "lib/runner/step.rb:112:in 'run'",
  ...Array.from({ length: 14 }, (_, n) => `/gems/worker-7.0.1/lib/loop.rb:${n + 5}:in 'tick'`),
]

/** The progress output of a fetch. Each line replaces the previous one. */
export const FETCH_LOG = [
  'Fetching git@git.acme.dev:platform/storefront-config',
  'Revision main, last known 4f1c9e2',
  'remote: Enumerating objects: 4821, done.',
  'remote: Counting objects: 100% (4821/4821), done.',
  'remote: Compressing objects: 100% (1377/1377), done.',
  [12, 31, 48, 62]
    .map((n) => `Receiving objects:  ${n}% (${Math.floor(48.21 * n)}/4821)`)
    .join('\r'),
].join('\n')

const CHANGES = [
  {
    op: 'replace',
    path: '/description',
    value: 'Storefront, checkout and returns',
    old_value: 'Storefront and checkout',
  },
  { op: 'replace', path: '/limits/parallel_changes', value: 8, old_value: 4 },
  { op: 'add', path: '/requires_approval_from/1', value: 'release-leads' },
  { op: 'remove', path: '/contact', old_value: 'ops@acme.dev' },
]

/** The latest events, newest first. */
const LATEST: readonly StoryEvent[] = [
  {
    ago: 17,
    type: 'api:template_versions:update',
    username: 'ann',
    source: `/api/template_versions/${VERSION}`,
    attributes: { name: 'storefront-config@main', template_version_id: VERSION },
  },
  {
    ago: 95,
    type: 'audit:steps:approve',
    username: 'ann',
    source: `/api/steps/${STEP}`,
    attributes: ofStep('Deploy to production'),
  },
  {
    ago: 128,
    type: 'audit:steps:approve:denied',
    username: 'bob',
    source: `/api/steps/${STEP}`,
    attributes: ofStep('Deploy to production'),
  },
  {
    ago: 174,
    type: 'api:steps:success',
    source: `/api/steps/${STEP}`,
    attributes: ofStep('Smoke test'),
  },
  {
    ago: 206,
    type: 'error:step:action',
    source: `/api/steps/${STEP}`,
    attributes: {
      ...ofStep('Warm cache'),
      error: 'connect timed out after 30 s (cache-02:6379)',
      attempt: 3,
      node_path: '/projects/acme/environments/production',
      backtrace: BACKTRACE,
    },
  },
  {
    ago: 299,
    type: 'warn:resource_slot_pool:full',
    source: PROJECT,
    attributes: { pool: 'runners-eu', configured_limit: 8, project_code: 'acme' },
  },
  {
    ago: 465,
    type: 'api:projects:update',
    username: 'ann',
    source: PROJECT,
    attributes: {
      name: 'acme',
      changes: CHANGES,
      request_method: 'PATCH',
      request_path: PROJECT,
      request_body: {
        description: 'Storefront, checkout and returns',
        limits: { parallel_changes: 8 },
        contact: null,
        requires_approval_from: ['ops', 'release-leads'],
      },
      url_params: { project_code: 'acme' },
      response_status: 200,
      project_id: '0199e2f0-77aa-7c10-9b1e-5f0c7d2e8a31',
      duration_ms: 18.204,
      request_id: 'req-8f21c',
    },
  },
  {
    ago: 502,
    type: 'api:secrets:resolve',
    username: 'mira',
    source: '/api/projects/acme/environments/production',
    attributes: { name: 'storefront/DB_PASSWORD', project_code: 'acme' },
  },
  {
    ago: 663,
    type: 'api:git_remote_pushes:create',
    username: 'mira',
    source: '/api/git_remotes/infra',
    attributes: {
      branch: 'main',
      git_remote_name: 'infra',
      expected_sha: '4f1c9e2a60d1',
      pushed_sha: 'b07d3a1c55e2',
      bundle_bytes: 18_204,
    },
  },
  {
    ago: 828,
    type: 'info:email:sent',
    source: `/api/changes/${CHANGE}`,
    attributes: {
      recipients: 'ann@acme.dev',
      subject: 'Deploy to production waits for you',
      ...ofChange,
    },
  },
  {
    ago: 966,
    type: 'api:changes:create',
    username: 'ann',
    source: `/api/changes/${CHANGE}`,
    attributes: {
      name: 'nightly-2211',
      ...ofChange,
      url_params: { project_code: 'acme' },
      request_method: 'POST',
      request_path: '/api/changes',
      response_status: 201,
    },
  },
  {
    ago: 1014,
    type: 'warn:git_remote:periodic_fetch:failed',
    source: '/api/git_remotes/legacy-assets',
    attributes: { name: 'legacy-assets', error: 'host not found' },
  },
  {
    ago: 1111,
    type: 'api:policy_assignments:create',
    username: 'ann',
    source: '/api/policies/release-approvers',
    attributes: { policy_name: 'release-approvers', user: 'mira' },
  },
  {
    ago: 1137,
    type: 'api:policy_assignments:destroy',
    username: 'ann',
    source: '/api/policies/release-approvers',
    attributes: { policy_name: 'release-approvers', user: 'bob' },
  },
  {
    ago: 1452,
    type: 'info:maintenance_mode:disabled',
    username: 'ann',
    source: '/api/settings/global',
  },
  {
    ago: 1667,
    type: 'deploy:frontend:done',
    username: 'ci-runner',
    system: false,
    source: PROJECT,
    attributes: { name: 'frontend 4.18.0', seconds: 92, project_code: 'acme' },
  },
  {
    ago: 2105,
    type: 'error:api:controller:unhandled',
    username: 'mira',
    source: '/api/settings/global',
    attributes: {
      request_method: 'PATCH',
      request_path: '/api/settings',
      error: "undefined method 'merge' for nil",
      backtrace: BACKTRACE.slice(0, 4),
      response_status: 500,
    },
  },
  {
    ago: 2360,
    type: 'audit:changes:pause',
    username: 'bob',
    source: '/api/changes/0199f08e-11f4-7b90-a3c8-0d5e7f2a9b65',
    attributes: { name: 'reindex-7', message: 'waiting for ops', project_code: 'globex' },
  },
]

/** Events of the whole day, with their frequency per thousand. */
const USUAL: readonly (readonly [weight: number, event: Omit<StoryEvent, 'ago'>])[] = [
  [190, { type: 'api:steps:success', attributes: ofStep('Build image') }],
  [186, { type: 'api:steps:start', attributes: ofStep('Build image') }],
  [100, { type: 'api:agent:started', attributes: { name: 'runner-04' } }],
  [
    60,
    {
      type: 'info:email:sent',
      attributes: { recipients: 'ops@acme.dev', subject: 'A step waits' },
    },
  ],
  [
    60,
    {
      type: 'info:git_remote:periodic_fetch:recovered',
      attributes: { name: 'infra', git_remote_name: 'infra' },
    },
  ],
  [110, { type: 'info:api_autoscaler:grow' }],
  [
    70,
    {
      type: 'api:changes:create',
      username: 'ann',
      attributes: { name: 'nightly-2210', url_params: { project_code: 'acme' } },
    },
  ],
  [
    60,
    {
      type: 'api:changes:update',
      username: 'mira',
      attributes: { name: 'reindex-6', url_params: { project_code: 'globex' } },
    },
  ],
  [
    50,
    {
      type: 'api:assets:update',
      username: 'ci-runner',
      attributes: { name: 'frontend', url_params: { project_code: 'initech' } },
    },
  ],
  [
    40,
    {
      type: 'api:environments:update',
      username: 'bob',
      attributes: { name: 'staging', url_params: { project_code: 'acme' } },
    },
  ],
  [22, { type: 'audit:steps:approve', username: 'ann', attributes: ofStep('Sign off') }],
  [
    30,
    {
      type: 'warn:resource_slot_pool:full',
      attributes: { pool: 'runners-eu', configured_limit: 8 },
    },
  ],
  [
    6,
    {
      type: 'error:step:action',
      attributes: { ...ofStep('Warm cache'), error: 'connect timed out' },
    },
  ],
  [
    16,
    {
      type: 'deploy:worker:done',
      username: 'ci-runner',
      system: false,
      attributes: { name: 'worker 2.1.0' },
    },
  ],
]

/** The events of the night. */
const NIGHT: readonly (readonly [weight: number, event: Omit<StoryEvent, 'ago'>])[] = [
  [
    30,
    {
      type: 'error:step:action',
      attributes: { ...ofStep('Warm cache'), error: 'connect timed out' },
    },
  ],
  [
    18,
    {
      type: 'warn:resource_slot_pool:full',
      attributes: { pool: 'runners-eu', configured_limit: 8 },
    },
  ],
  [60, { type: 'api:steps:start', attributes: ofStep('Warm cache') }],
  [20, { type: 'info:api_autoscaler:grow' }],
]

/** The Park-Miller generator: the same numbers each time. */
function randomNumbers(): () => number {
  let state = 20_261_120
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

const DAY = 86_400
const NIGHT_AGO = 42_600

/** Chosen so that no event becomes an hour or a day old during a test. */
const settled = (ago: number): number =>
  [3600, DAY].some((age) => ago > age - 150 && ago <= age) ? ago - 150 : ago

/**
 * The day before `end`, about 2,200 events for `importEvents`, oldest first. `end` is in microseconds; the night of
 * the story is 11 h 50 min before it.
 */
export function dayOfEvents(end: number): AuditEvent[] {
  const random = randomNumbers()
  const pick = (from: typeof USUAL): Omit<StoryEvent, 'ago'> => {
    let left = random() * from.reduce((sum, [weight]) => sum + weight, 0)
    return from.find(([weight]) => (left -= weight) < 0)?.[1] ?? from[0]![1]
  }
  // Less traffic at night.
  const isTaken = (ago: number): boolean => random() < (ago > 20_000 && ago < 70_000 ? 0.45 : 1)
  const usual = Array.from({ length: 3050 }, () => random() * (DAY - 2400) + 2400)
    .filter(isTaken)
    .map(settled)
    .map((ago): StoryEvent => ({ ago, ...pick(USUAL) }))
  const night = Array.from({ length: 84 }, () => NIGHT_AGO - random() * 1300).map(
    (ago): StoryEvent => ({
      ago,
      ...pick(NIGHT),
    }),
  )
  const all = [...LATEST, ...usual, ...night].toSorted((one, other) => other.ago - one.ago)
  return all.map(({ ago, type, username, system, source, attributes }, index) => {
    const time = Math.floor(end - ago * 1e6) + (index % 1000)
    const milliseconds = Math.floor(time / 1000)
      .toString(16)
      .padStart(12, '0')
    return {
      id: `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${index.toString(16).padStart(3, '0').slice(-3)}-8000-${index.toString(16).padStart(12, '0')}`,
      created_at: formatTimestamp(time),
      username: username ?? null,
      system: system ?? true,
      type,
      source: source ?? null,
      attributes: attributes ?? {},
    }
  })
}
