import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Koa, { type Context, type Middleware } from 'koa'
import { AuditLog } from 'daybook'
import { slackKind, webhookKind } from 'daybook/channels'
import {
  auditHealth,
  auditPage,
  auditRoutes,
  basicAuth,
  type EventsAction,
  recordRequests,
  subscriptionRoutes,
  type SubscriptionsAction,
  viewRoutes,
  type ViewsAction,
} from 'daybook/koa'
import { cloudTrail, windowsSecurity } from 'daybook/presets'
import { workflowLinks } from 'daybook/workflow'
import { createAgents } from './agents/agents.js'
import { startAutoscaler } from './autoscaler/autoscaler.js'
import { createWorkers } from './autoscaler/workers.js'
import { createBackground } from './background/background.js'
import { cleaningOf } from './background/cleaning.js'
import { startJobs } from './background/jobs.js'
import { startRefresh, startTakeOver, takeOver } from './background/processes.js'
import { startSchedule } from './background/schedule.js'
import { createChildren } from './children/child.js'
import { startTraffic } from './traffic/traffic.js'
import type { EngineContext } from './engine/context.js'
import { createEngine, type Engine } from './engine/engine.js'
import { createLogForwarder } from './engine/log-forwarder.js'
import { createPods } from './engine/pods.js'
import { CHANGES, WORKFLOW_RUNS, type ActivityNames } from './engine/names.js'
import { serviceEventTypes } from './event-types.js'
import { importHistory } from './history/history.js'
import { findGit } from './git/git.js'
import { createImages } from './images/images.js'
import { createMirrors } from './git/mirrors.js'
import { startPeriodicFetch } from './git/periodic-fetch.js'
import { refreshDirectory } from './ldap/directory.js'
import { openLedger, sealLog } from './ledger.js'
import { createResolver } from './links.js'
import { createNote, createNoteLive } from './notes.js'
import type { Documents } from './documents/documents.js'
import { OptionError, type ServiceOptions } from './options.js'
import { answerProblems } from './problem.js'
import { receivedPage } from './receivers/received-page.js'
import { type Receivers, startReceivers } from './receivers/receivers.js'
import { apiRoutes } from './routes/index.js'
import { described, runDeferred } from './routes/request.js'
import { seed } from './seed.js'
import { followRevisions } from './templates/refresh.js'
import { createSettings, noteOverrides } from './settings.js'
import type { Service } from './service.js'
import { openKeys } from './subjects.js'
import { reportCluster } from './sites/sites.js'
import { createSlots } from './slots/slots.js'
import { createVault, findKey } from './vault/vault.js'
import { openStores } from './stores.js'
import { TIMINGS } from './timings.js'
import { mayChange, USERS } from './users.js'
import { openWorkspace, removeWorkspace, takeFiles } from './workspace.js'

export interface RunningService {
  readonly url: string
  /** Resolves to the number of imported events of the history; 0 if there was nothing to import. */
  readonly history: Promise<number>
  /** Lines for the operator about the ledger of the log. */
  readonly ledger: readonly string[]
  /** Resolves once the log is sealed, if it has a ledger. Rejects with `LEDGER_DIVERGED` if the ledger does not fit the log. */
  readonly sealed: Promise<void>
  /** Stops all work, closes server and stores, and removes temporary files. */
  close(): Promise<void>
}

type Audit = AuditLog<typeof serviceEventTypes, typeof workflowLinks>

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { port, store, traffic, history = false, overrides = {} } = options
  const timings = { ...TIMINGS, ...options.timings }
  // Before the stores make their files, which tell a new log.
  const ledger = await openLedger(store)
  const { events, documents } = await openStores(store, timings.write)
  const settings = createSettings(documents, overrides)
  const resolveSource = createResolver(documents)
  const keys = await openKeys(store, documents)
  const receivers = options.receivers ? await startReceivers() : undefined
  const audit: Audit = new AuditLog({
    store: events,
    types: serviceEventTypes,
    // Describes events that were imported from these logs.
    customTypes: { ...cloudTrail.customTypes, ...windowsSecurity.customTypes },
    // A misspelt data key or a wrong link fails the tests instead of getting into the log.
    strict: true,
    links: workflowLinks,
    resolveSource,
    ledger: ledger.options,
    privacy: { keys },
    cleaning: cleaningOf(documents, settings),
    subscriptions: {
      ...receivers?.subscriptions,
      // Webhooks of users lead to public addresses only.
      kinds: { webhook: webhookKind(), slack: slackKind() },
      secretsKey: await findKey(documents, 'channels'),
    },
  })
  audit.on('rejected', ({ type, error }) => {
    // Clients learn of their own events that were refused.
    if (type in audit.types) console.error(`${type} was not recorded:`, error)
  })
  const workspace = await openWorkspace(documents)
  const background = createBackground()
  const note = createNote(audit)

  // The service sends requests to itself as this user, whose password is secret.
  const users = { ...USERS, service: randomUUID() }
  const authorization = `Basic ${Buffer.from(`service:${users.service}`).toString('base64')}`
  let url = ''
  const get = (path: string, signal: AbortSignal): Promise<Response> =>
    fetch(url + path, { headers: { authorization }, signal })

  const children = createChildren()
  const common = { documents, note, background, settings, timings, children }
  const vault = createVault(common)
  const images = createImages({ ...common, workspace })
  const git = await findGit(background.stopping)
  const mirrors = git && createMirrors(common, git, workspace)
  const shared = {
    ...common,
    get,
    mirrors,
    slots: createSlots(common),
    forwardLog: createLogForwarder(common),
  }
  const changes = await openEngine(CHANGES, workspace, { ...shared, pods: createPods(common) })
  const workflowRuns = await openEngine(WORKFLOW_RUNS, workspace, { ...shared, pods: undefined })
  const service: Service = {
    ...common,
    noteLive: createNoteLive(audit),
    vault,
    images,
    workers: createWorkers(common),
    agents: createAgents({ ...common, images }),
    clean: async (rules) => void (await audit.cleaning.run({ rules })),
    changes,
    workflowRuns,
    git,
    mirrors,
    workspace,
  }

  const app = createApp({ service, audit, users, receivers })
  const handle = app.callback()
  // Requests are background work too, so that the stores stay open until the last one has ended.
  const server = createServer((request, response) =>
    background.run(() => handle(request, response)),
  )
  const close = async (): Promise<void> => {
    const stopped = background.stop()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await Promise.all([stopped, closed])
    await children.stop()
    await audit.close()
    await receivers?.close()
    await removeWorkspace(documents, workspace)
    await documents.close()
  }

  try {
    await seed(documents)
    const isFirstStart = history && (await audit.list({ limit: 1 })).events.length === 0
    await noteOverrides(service)
    await reportCluster(service)
    const unfinished = await takeOver(service)
    url = await listen(server, port)
    for (const work of unfinished) background.run(work)
    startRefresh(service)
    startTakeOver(service)
    startSchedule(service)
    startJobs(service)
    startPeriodicFetch(service)
    startAutoscaler(service)
    background.repeat(timings.followRevisions, () => followRevisions(service))
    background.repeat(timings.ldapRefresh, () => refreshDirectory(service, null))
    background.repeat(timings.configuration, () => vault.roll())
    background.repeat(timings.configuration, () => reportCluster(service))
    if (traffic) startTraffic(service, url)
    const imported = isFirstStart ? importHistory(audit, resolveSource) : Promise.resolve(0)
    background.run(async () => void (await imported))
    const sealed = sealLog(audit, ledger)
    sealed.catch(() => {})
    return { url, history: imported, ledger: ledger.lines, sealed, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Creates the engine of changes or of workflow runs, and the directory for their files. */
async function openEngine(
  names: ActivityNames,
  workspace: string,
  shared: Omit<EngineContext, 'names' | 'directoryOf' | 'takeFiles'>,
): Promise<Engine> {
  const directory = join(workspace, names.activities)
  await mkdir(directory)
  return createEngine({
    ...shared,
    names,
    directoryOf: (id) => join(directory, id),
    takeFiles: ({ id, owner }) =>
      takeFiles(shared.documents, owner, join(names.activities, id), join(directory, id)),
  })
}

interface AppParts {
  readonly service: Service
  readonly audit: Audit
  readonly users: Readonly<Record<string, string>>
  readonly receivers: Receivers | undefined
}

function createApp({ service, audit, users, receivers }: AppParts): Koa {
  const app = new Koa()
  app.use(answerProblems)
  app.use(runDeferred(service.background.run))
  // The codes of projects, environments and assets are no secrets, nor are the ids of secrets.
  app.use(recordRequests(audit, { describe: described, redact: { except: ['code', 'secret_id'] } }))
  app.use(auditHealth(audit, { timeoutMs: 10_000 }))
  app.use(basicAuth({ users }))
  app.use(refreshFirst(service.documents))
  app.use(auditRoutes(audit, { authorize: isAllowed }))
  app.use(subscriptionRoutes(audit, { authorize: subscriptionsOf }))
  app.use(viewRoutes(audit, { authorize: mayManageViews }))
  app.use(auditPage(audit, { name: 'acme workflows' }))
  if (receivers) app.use(receivedPage(receivers.received))
  app.use(async (ctx, next) => {
    if (ctx.path === '/') ctx.redirect('/audit')
    else await next()
  })
  for (const middleware of apiRoutes(service)) app.use(middleware)
  return app
}

/** Creating a custom event is a change, which readers may not make. They do not see personal data either. */
const isAllowed = ({ state }: Context, action: EventsAction): boolean =>
  (action !== 'create' && action !== 'personal') || mayChange(state['username'] as string)

const READING = /:(?:list|read|parked|describe)$/

/** Everybody sees the subscriptions and channels of all users; readers may not change them. */
const subscriptionsOf = ({ state }: Context, action: SubscriptionsAction): 'all' | boolean =>
  (READING.test(action) || mayChange(state['username'] as string)) && 'all'

/** Readers see the shared views; others also save and share their own. */
const mayManageViews = ({ state }: Context, action: ViewsAction): boolean =>
  READING.test(action) || mayChange(state['username'] as string)

/** Loads what other processes wrote before the request. */
const refreshFirst =
  (documents: Documents): Middleware =>
  async (_ctx, next) => {
    await documents.refresh()
    await next()
  }

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new OptionError(
              `port ${port} is in use: set PORT to another one, or to 0 for a free one`,
            )
          : error,
      ),
    )
    server.listen(port, '127.0.0.1', () => {
      resolve(`http://localhost:${(server.address() as AddressInfo).port}`)
    })
  })
}
