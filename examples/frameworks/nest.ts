/*
 * NestJS 12 on Express: npx tsx examples/frameworks/nest.ts
 */
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type INestApplication,
  Inject,
  Module,
  Post,
} from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { AuditLog, defineEventTypes } from 'daybook'
import * as onExpress from 'daybook/express'
import * as onFastify from 'daybook/fastify'
import { memoryStore } from 'daybook/memory'
import { runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

type Audit = AuditLog<typeof types>

@Controller('orders')
class OrdersController {
  @Inject(AuditLog) private readonly audit!: Audit

  @Post()
  async create(): Promise<object> {
    await this.audit.record('info:stock:reserved')
    return { ordered: true }
  }
}

@Module({
  controllers: [OrdersController],
  providers: [
    { provide: AuditLog, useFactory: () => new AuditLog({ store: memoryStore(), types }) },
  ],
})
class AppModule {}

/** Nest answers errors itself. This filter gives them to the event of their request. */
@Catch()
class RecordErrors extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    onExpress.recordError(host.switchToHttp().getRequest(), error)
    super.catch(error, host)
  }
}

async function run(app: INestApplication, port: number): Promise<RunningService> {
  app.useGlobalFilters(new RecordErrors(app.get(HttpAdapterHost).httpAdapter))
  await app.listen(port, '127.0.0.1')
  const audit = app.get<Audit>(AuditLog)
  return {
    url: await app.getUrl(),
    async close() {
      await app.close()
      await audit.close()
    },
  }
}

const settings = { logger: ['warn', 'error'] as ('warn' | 'error')[], forceCloseConnections: true }
const users = { ann: 'ann' }

export async function start(port: number): Promise<RunningService> {
  const { recordRequests, basicAuth, auditRoutes, auditPage } = onExpress
  const app = await NestFactory.create<NestExpressApplication>(AppModule, settings)
  const audit = app.get<Audit>(AuditLog)
  app.use(recordRequests(audit))
  app.use(basicAuth({ users }))
  app.use(auditRoutes(audit), auditPage(audit))
  return run(app, port)
}

export async function startOnFastify(port: number): Promise<RunningService> {
  const { recordRequests, basicAuth, auditRoutes, auditPage } = onFastify
  const adapter = new FastifyAdapter({ forceCloseConnections: true })
  const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, settings)
  const audit = app.get<Audit>(AuditLog)
  await app.register(recordRequests(audit))
  await app.register(basicAuth({ users }))
  await app.register(auditRoutes(audit))
  await app.register(auditPage(audit))
  return run(app, port)
}

await runIfMain(import.meta.filename, start)
