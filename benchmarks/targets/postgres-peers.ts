import { requirePeer } from '../harness/peers.js'

/* Other libraries that store events in Postgres. Types are declared as far as they are used here. */

/** The data of an event, which peers store as jsonb. */
type Data = { readonly [key: string]: unknown }

export interface Emmett {
  readonly schema: { migrate(): Promise<unknown> }
  appendToStream(
    stream: string,
    events: readonly { readonly type: string; readonly data: Data }[],
  ): Promise<unknown>
  close(): Promise<void>
}

export interface PgBoss {
  on(event: 'error', listener: (error: Error) => void): unknown
  start(): Promise<unknown>
  createQueue(name: string): Promise<unknown>
  send(name: string, data: Data): Promise<string | null>
  insert(jobs: readonly { readonly name: string; readonly data: Data }[]): Promise<unknown>
  work(
    name: string,
    options: { readonly batchSize: number; readonly pollingIntervalSeconds: number },
    handler: (jobs: readonly unknown[]) => Promise<void>,
  ): Promise<string>
  stop(options: { readonly graceful: boolean; readonly wait: boolean }): Promise<void>
}

/** Of graphile-worker. */
export interface GraphileWorker {
  readonly Logger: new (factory: () => () => void) => object
  makeWorkerUtils(options: {
    readonly connectionString: string
    readonly logger: object
  }): Promise<{
    migrate(): Promise<void>
    addJobs(
      jobs: readonly { readonly identifier: string; readonly payload: object }[],
    ): Promise<unknown>
    release(): unknown
  }>
  run(options: {
    readonly connectionString: string
    readonly preset: { readonly worker: object }
    readonly noHandleSignals: boolean
    readonly logger: object
    readonly taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>
  }): Promise<{ stop(): Promise<void> }>
}

export function openEmmett(url: string): Emmett {
  const { getPostgreSQLEventStore } = requirePeer('@event-driven-io/emmett-postgresql') as {
    getPostgreSQLEventStore: (url: string, options: object) => Emmett
  }
  return getPostgreSQLEventStore(url, { schema: { autoMigration: 'None' } })
}

/** Without maintenance and schedules, as in a process that only sends jobs. */
export function createPgBoss(connectionString: string): PgBoss {
  const Boss = requirePeer('pg-boss') as new (options: object) => PgBoss
  const boss = new Boss({ connectionString, supervise: false, schedule: false })
  boss.on('error', (error) => {
    throw error
  })
  return boss
}

export const graphileWorker = (): GraphileWorker => requirePeer('graphile-worker') as GraphileWorker
