import { defineEventTypes } from 'daybook'

/*
 * Made-up events as a busy workflow service would record them: the same for every trial, as they come
 * from a seeded generator. The attributes are about 640 bytes of JSON with some 20 values.
 */

export const sampleTypes = defineEventTypes({
  'api:changes:create': {},
  'api:changes:update': {},
  'api:projects:update': {},
  'api:templates:create': {},
  'api:nodes:create': {},
  'audit:steps:approve': {},
  'info:steps:success': {},
  'info:workflow_run:start': {},
  'info:image_build:success': {},
  'warn:agent:retry': {},
  'error:steps:start': {},
  'error:git_remote:fetch': {},
})

export interface SampleEvent {
  readonly type: keyof typeof sampleTypes
  readonly username: string
  readonly data: { readonly [key: string]: unknown }
}

/** Numbers from 0 to 1 that look random (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const TYPES = Object.keys(sampleTypes) as SampleEvent['type'][]
const ACTIONS = ['deploy', 'rollback', 'scale', 'restart', 'patch', 'backup', 'restore', 'verify']
const KINDS = ['project', 'environment', 'asset']
const WORDS =
  'agent backlog build cluster could connection copy database deploy drained fetch image lost mirror node not primary queue ready refused remote replica retry runner secret stale step the timeout worker'.split(
    ' ',
  )

class Sampler {
  private readonly random: () => number

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  /** Low numbers far more often: a few users and projects are behind most events. */
  mostlyLow(limit: number): number {
    return Math.floor(this.random() ** 3 * limit)
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.mostlyLow(items.length)]!
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.below(16).toString(16)).join('')
  }

  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`
  }

  words(count: number): string {
    return Array.from({ length: count }, () => WORDS[this.below(WORDS.length)]).join(' ')
  }

  event(): SampleEvent {
    const type = this.pick(TYPES)
    const isRequest = type.startsWith('api') || type.startsWith('audit')
    const data = isRequest ? this.request(type) : this.work(type)
    return { type, username: `user${this.mostlyLow(100)}`, data }
  }

  private request(type: string): SampleEvent['data'] {
    const project = `project-${this.mostlyLow(300)}`
    const environment = `environment-${this.below(8)}`
    return {
      name: `${this.pick(ACTIONS)} of ${project}`,
      request_method: type.endsWith('update') ? 'PATCH' : 'POST',
      request_path: `/api/projects/${project}/environments/${environment}/${type.split(':')[1]}`,
      request_id: this.uuid(),
      request_body: {
        action: this.pick(ACTIONS),
        reason: this.words(8),
        parameters: { count: this.below(50), force: this.random() < 0.1, ref: this.hex(40) },
        labels: [this.pick(WORDS), this.pick(WORDS)],
      },
      url_params: { project_code: project, environment_code: environment },
      response_status: this.random() < 0.9 ? 201 : 204,
      remote_ip: `10.${this.below(4)}.${this.below(256)}.${this.below(256)}`,
      duration_ms: Math.round(this.random() ** 2 * 6e5) / 10,
      change_id: this.uuid(),
      parent: { code: `asset-${this.below(5000)}`, node_type: this.pick(KINDS) },
    }
  }

  private work(type: string): SampleEvent['data'] {
    const isError = type.startsWith('error')
    return {
      name: `${this.pick(ACTIONS)}-${this.below(100_000)}`,
      message: this.words(isError ? 9 : 27),
      step_id: this.uuid(),
      change_id: this.uuid(),
      cluster: { name: `cluster-${this.below(6)}`, region: this.pick(['north', 'south']) },
      worker: {
        host: `runner-${this.below(64)}.example.net`,
        pid: this.below(32_768),
        memory: this.below(2e9),
      },
      queue: { name: `queue-${this.below(10)}`, depth: this.mostlyLow(1000) },
      attempt: 1 + this.mostlyLow(5),
      stale: this.random() < 0.05,
      duration_ms: Math.round(this.random() ** 2 * 6e5) / 10,
      ref: this.hex(40),
      parent: { code: `asset-${this.below(5000)}`, node_type: this.pick(KINDS) },
      ...(isError
        ? {
            error: `RuntimeError: ${this.words(6)}`,
            backtrace: [1, 2, 3].map(() => `lib/${this.pick(WORDS)}.rb:${this.below(900)}`),
          }
        : {}),
    }
  }
}

export function sampleEvents(count: number, seed = 1): SampleEvent[] {
  const sampler = new Sampler(seed)
  return Array.from({ length: count }, () => sampler.event())
}
