import { blocksOf, docPages } from './doc-pages.js'

/* The TypeScript of the documentation, as modules that compile. */

/** Declarations of names that the examples use without declaring them. */
const known: Readonly<Record<string, string>> = {
  AuditLog: `import { AuditLog } from 'daybook'`,
  app: `declare const app: { use(middleware: import('daybook/koa').KoaMiddleware): unknown }`,
  auditPage: `import { auditPage } from 'daybook/koa'`,
  auditRoutes: `import { auditRoutes } from 'daybook/koa'`,
  basicAuth: `import { basicAuth } from 'daybook/koa'`,
  recordRequests: `import { recordRequests } from 'daybook/koa'`,
  Koa: `import Koa from 'koa'`,
  redis: `declare const redis: unknown`,
  users: `declare const users: Readonly<Record<string, string>>`,
  isEditor: `declare function isEditor(username: unknown): boolean`,
  isAuditor: `declare function isAuditor(username: unknown): boolean`,
  accessLog: `declare const accessLog: { note(...seen: unknown[]): void }`,
  logger: `declare const logger: { warn(fields: object, message: string): void }`,
  listRoute: `import { listRoute } from 'daybook/koa'`,
  postgresStore: `import { postgresStore } from 'daybook/postgres'`,
  sqliteTable: `import { sqliteTable } from 'daybook/sqlite'`,
  storeConformance: `import { storeConformance } from 'daybook/testing'`,
  workflowEventTypes: `import { workflowEventTypes } from 'daybook/workflow'`,
  audit: `declare const audit: import('daybook').AuditLog`,
  logs: `declare const logs: import('daybook').AuditLogs`,
  store: `declare const store: import('daybook').EventStore`,
  yourStore: `declare function yourStore(options: { clock: import('daybook').Clock }): import('daybook').EventStore`,
  it: `declare function it(name: string, body: () => Promise<void>): void`,
  router: `declare const router: { get(path: string, handler: ReturnType<typeof import('daybook/koa').listRoute>): void }`,
  apiRouter: `declare const apiRouter: import('@koa/router').default`,
  projects: `declare const projects: { id: string; code: string }[]`,
  workflows: `declare const workflows: { id: string; steps: object[] }[]`,
  database: `declare const database: import('daybook/sqlite').SqliteDatabase & {
    transaction(run: () => void): () => void
    prepare(sql: string): { run(...values: unknown[]): unknown }
  }`,
  prisma: `declare const prisma: {
    $transaction(act: (tx: import('daybook/orm').PrismaTransaction & {
      order: { create(args: { data: object }): Promise<unknown> }
    }) => Promise<void>): Promise<void>
  }`,
  replicaPool: `declare const replicaPool: import('daybook/postgres').PostgresPool`,
  connectionString: `declare const connectionString: string`,
  pool: `declare const pool: {
    connect(): Promise<{ query(text: string, values?: unknown[]): Promise<unknown> }>
    acquire(callback: (connection: object) => void): void
  }`,
  release: `declare function release(connection: object): void`,
  lastSeen: `declare let lastSeen: string`,
  signal: `declare const signal: AbortSignal`,
  notify: `declare function notify(event: import('daybook').AuditEvent): Promise<void>`,
  show: `declare function show(event: import('daybook').AuditEvent): void`,
  apply: `declare function apply(id: string, patch: import('daybook').EventChange['patch'], closed: boolean): void`,
  types: `declare const types: import('daybook').EventTypes`,
  event: `declare const event: import('daybook').AuditEvent`,
  index: `declare function index(events: readonly import('daybook').AuditEvent[], signal: AbortSignal): Promise<void>`,
  events: `declare const events: import('daybook').AuditEvent[]`,
  output: `declare const output: AsyncIterable<string>`,
  template_version_id: `declare const template_version_id: string`,
  project_id: `declare const project_id: string`,
  before: `declare const before: object`,
  after: `declare const after: object`,
  countJobs: `declare function countJobs(before: string | undefined): Promise<number>`,
  removeJobs: `declare function removeJobs(before: string | undefined): Promise<number>`,
  EventSource: `declare class EventSource {
    constructor(url: string)
    onmessage: (message: { data: string }) => void
  }`,
}

export interface DocModule {
  /** Names the page and the line, such as `docs-guide-tour-12.ts`. */
  readonly name: string
  readonly code: string
}

const DECLARATION =
  /(?<!\bas )\b(?:(?:const|let|function|class)\s+([\w$]+|\{[^}]*\})|import\s+([^'"]*?)\sfrom\b)/g

const namesIn = (code: string): readonly string[] => code.match(/[\w$]+/g) ?? []

function moduleText(code: string): string {
  const declared = new Set(
    [...code.matchAll(DECLARATION)].flatMap(([, name = '', imported = '']) => [
      ...namesIn(name),
      ...namesIn(imported),
    ]),
  )
  const used = new Set(namesIn(code))
  const lacking = Object.entries(known).filter(([name]) => used.has(name) && !declared.has(name))
  // A block without imports is a module, too.
  return [...lacking.map(([, line]) => line), code, 'export {}'].join('\n')
}

/** Each TypeScript block of the documentation, with declarations of the names that it uses. */
export const docModules: readonly DocModule[] = docPages.flatMap((page) =>
  blocksOf(page, 'ts').map(({ code, line }) => ({
    name: `${page.file.replace(/\.md$/, '').replaceAll('/', '-')}-${line}.ts`,
    code: moduleText(code),
  })),
)
