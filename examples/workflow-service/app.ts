import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Koa, { type Context, type Middleware } from 'koa'
import { AuditLog } from 'daybook'
import { auditPage, auditRoutes, basicAuth, type EventsAction, recordRequests } from 'daybook/koa'
import { createBackground } from './background/background.js'
import { cleaningOf } from './background/cleaning.js'
import { startJobs } from './background/jobs.js'
import { startRefresh, startTakeOver, takeOver } from './background/processes.js'
import { startSchedule } from './background/schedule.js'
import { startTraffic } from './traffic/traffic.js'
import { createEngine } from './engine/engine.js'
import { CHANGES, WORKFLOW_RUNS, type ActivityNames } from './engine/names.js'
import { serviceEventTypes } from './event-types.js'
import { findGit } from './git/git.js'
import { resolveIn } from './links.js'
import { liveNotesIn, notesIn } from './notes.js'
import type { Documents } from './documents/documents.js'
import type { ServiceOptions } from './options.js'
import { answerProblems } from './problem.js'
import { apiRoutes } from './routes/index.js'
import { described, runLater } from './routes/request.js'
import { seed } from './seed.js'
import type { Service } from './service.js'
import { openStores } from './stores.js'
import { mayChange, USERS } from './users.js'
import { openWorkspace, removeWorkspace, takeFiles } from './workspace.js'

export interface RunningService {
  readonly url: string
  /** Ends all work, closes server and stores, and removes temporary files. */
  close(): Promise<void>
}

type Audit = AuditLog<typeof serviceEventTypes>

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const { port, store, traffic } = options
  const { events, documents } = await openStores(store)
  const audit: Audit = new AuditLog({
    store: events,
    types: serviceEventTypes,
    resolveSource: resolveIn(documents),
    cleaning: cleaningOf(documents),
  })
  const workspace = await openWorkspace(documents)
  const background = createBackground()
  const note = notesIn(audit)

  // The service reads from itself as a user of its own, whose password nobody else knows.
  const users = { ...USERS, service: randomUUID() }
  const authorization = `Basic ${Buffer.from(`service:${users.service}`).toString('base64')}`
  let url = ''
  const get = (path: string, signal: AbortSignal): Promise<Response> =>
    fetch(url + path, { headers: { authorization }, signal })

  const engineOf = async (names: ActivityNames) => {
    const directory = join(workspace, names.activities)
    await mkdir(directory)
    return createEngine({
      names,
      documents,
      note,
      background,
      directoryOf: (id) => join(directory, id),
      takeFiles: ({ id, owner }) =>
        takeFiles(documents, owner, join(names.activities, id), join(directory, id)),
      get,
    })
  }
  const changes = await engineOf(CHANGES)
  const workflowRuns = await engineOf(WORKFLOW_RUNS)
  const git = await findGit(background.stopping)
  const service: Service = {
    documents,
    note,
    noteLive: liveNotesIn(audit),
    background,
    changes,
    workflowRuns,
    git,
    workspace,
  }

  const handle = createApp(service, audit, users).callback()
  // As work among other, so that the stores stay open until the last request is done with.
  const server = createServer((request, response) =>
    background.run(() => handle(request, response)),
  )
  const close = async (): Promise<void> => {
    const stopped = background.stop()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await Promise.all([stopped, closed])
    await audit.close()
    await removeWorkspace(documents, workspace)
    await documents.close()
  }

  try {
    await seed(documents)
    const unfinished = await takeOver(service)
    url = await listen(server, port)
    for (const work of unfinished) background.run(work)
    startRefresh(service)
    startTakeOver(service)
    startSchedule(service)
    startJobs(service)
    if (traffic) startTraffic(service, url)
    return { url, close }
  } catch (error) {
    await close()
    throw error
  }
}

function createApp(service: Service, audit: Audit, users: Readonly<Record<string, string>>): Koa {
  const app = new Koa()
  app.use(answerProblems)
  app.use(runLater(service.background.run))
  app.use(recordRequests(audit, { describe: described }))
  app.use(basicAuth({ users }))
  app.use(readFresh(service.documents))
  app.use(auditRoutes(audit, { authorize: mayDo }))
  app.use(auditPage(audit, { name: 'acme workflows' }))
  app.use(async (ctx, next) => {
    if (ctx.path === '/') ctx.redirect('/audit')
    else await next()
  })
  for (const middleware of apiRoutes(service)) app.use(middleware)
  return app
}

/** Custom events are changes too, which readers may not make. */
const mayDo = ({ state }: Context, action: EventsAction): boolean =>
  action !== 'create' || mayChange(state['username'] as string)

/** Whatever was done through any process before the request came is there for it. */
const readFresh =
  (documents: Documents): Middleware =>
  async (_ctx, next) => {
    await documents.refresh()
    await next()
  }

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      resolve(`http://localhost:${(server.address() as AddressInfo).port}`)
    })
  })
}
