import {
  type ArgumentsHost,
  BadRequestException,
  type CanActivate,
  Catch,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  type INestApplication,
  Module,
  Param,
  Post,
  UseGuards,
} from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { type AuditEvent, AuditLog, defineEventTypes } from 'daybook'
import * as onExpress from 'daybook/express'
import * as onFastify from 'daybook/fastify'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newEvent, send } from '../support/http.js'

const types = defineEventTypes({ 'api:orders:ship': {}, 'info:stock:reserved': {} })

class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ user?: string; headers: Record<string, string> }>()
    const user = request.headers['x-user']
    if (user !== undefined) request.user = user
    return user !== undefined
  }
}

@Controller(':shop/orders')
class OrdersController {
  @Inject(AuditLog) private readonly audit!: AuditLog<typeof types>

  @Post(':id/ship')
  @UseGuards(UserGuard)
  async ship(@Param('id') id: string): Promise<string> {
    if (id === '0') throw new BadRequestException('there is no order 0')
    await this.audit.record('info:stock:reserved')
    return 'done'
  }

  @Get()
  list(): void {
    throw new Error('it broke')
  }
}

@Module({
  controllers: [OrdersController],
  providers: [
    { provide: AuditLog, useFactory: () => new AuditLog({ store: memoryStore(), types }) },
  ],
})
class AppModule {}

@Catch()
class RecordErrors extends BaseExceptionFilter {
  override catch(error: unknown, host: ArgumentsHost): void {
    onExpress.recordError(host.switchToHttp().getRequest(), error)
    super.catch(error, host)
  }
}

const username = (request: object): string | null => (request as { user?: string }).user ?? null
const settings = { logger: false } as const

const platforms = {
  Express: async (): Promise<INestApplication> => {
    const app = await NestFactory.create(AppModule, settings)
    return app.use(onExpress.recordRequests(app.get(AuditLog), { username }))
  },
  Fastify: async (): Promise<INestApplication> => {
    const adapter = new FastifyAdapter()
    const app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, settings)
    await app.register(onFastify.recordRequests(app.get(AuditLog), { username }))
    return app
  },
}

type MountEndpoints = (app: INestApplication) => unknown

async function start(create: () => Promise<INestApplication>, mount?: MountEndpoints) {
  const app = await create()
  mount?.(app)
  const audit = app.get<AuditLog<typeof types>>(AuditLog)
  app.useGlobalFilters(new RecordErrors(app.get(HttpAdapterHost).httpAdapter))
  await app.listen(0, '127.0.0.1')
  onTestFinished(async () => {
    await app.close()
    await audit.close()
  })
  return { app, audit, url: await app.getUrl() }
}

describe.each(Object.entries(platforms))('NestJS on %s', (name, create) => {
  it('records requests with the user of a guard, and errors of guards and handlers', async () => {
    const { audit, url } = await start(create)
    const headers = { 'x-user': 'ann', 'x-request-id': 'r1' }
    const statuses: number[] = []
    for (const request of [
      { path: '/tea/orders/7/ship', method: 'POST', headers },
      { path: '/tea/orders/0/ship', method: 'POST', headers },
      { path: '/tea/orders/7/ship', method: 'POST' },
      { path: '/tea/orders', method: 'GET' },
      { path: '/nowhere', method: 'POST' },
    ])
      statuses.push((await send(url, request.path, { user: null, ...request })).status)
    expect(statuses).toEqual([201, 400, 403, 500, 404])
    const events: readonly AuditEvent[] = (await audit.list()).events
    expect(events).toMatchObject([
      { type: 'info:stock:reserved', username: 'ann', attributes: { request_id: 'r1' } },
      {
        type: 'api:orders:ship',
        username: 'ann',
        attributes: { url_params: { shop: 'tea', id: '7' }, response_status: 201 },
      },
      {
        type: 'error:orders:ship',
        username: 'ann',
        attributes: { error: 'there is no order 0', response_status: 400 },
      },
      { type: 'error:orders:ship', username: null, attributes: { error: 'Forbidden resource' } },
      {
        type: 'error:api:controller:unhandled',
        attributes: {
          error: 'it broke',
          backtrace: expect.stringContaining('record-nest') as string,
        },
      },
      { type: 'error:unmatched:create', attributes: { error: 'Cannot POST /nowhere' } },
    ])
  })

  it('requests to endpoints that are mounted as middleware leave no event', async () => {
    const { audit, url } = await start(create, (app) =>
      app.use(onExpress.auditRoutes(app.get(AuditLog), { username: () => 'ann' })),
    )
    const posted = await send(url, '/api/events', { ...newEvent({ type: 'noted' }), user: null })
    expect(posted.status).toBe(201)
    expect((await audit.list()).events.map(({ type }) => type)).toEqual(['noted'])
  })

  it('assertCoverage reads the routes of controllers', async () => {
    const { app } = await start(create)
    const instance = app.getHttpAdapter().getInstance() as onExpress.ExpressApp
    const { assertCoverage } = name === 'Express' ? onExpress : onFastify
    assertCoverage(instance, types)
    const more = defineEventTypes({ ...types, 'api:orders:create': {} })
    expect(() => assertCoverage(instance, more)).toThrow(
      expect.objectContaining({
        cause: new Error('api:orders:create is registered, but no route records it'),
      }),
    )
  })
})
