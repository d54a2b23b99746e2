import { randomUUID } from 'node:crypto'
import type { RouterContext } from '@koa/router'
import { code, flag, text } from '../attributes.js'
import type { Project } from '../model.js'
import { findProject, projectPath } from '../paths.js'
import { notFound, Problem } from '../problem.js'
import type { Service } from '../service.js'
import { listOf } from './lists.js'
import { describe, param, readChanges, readNew } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, patch, post, type Route } from './route.js'

const CHANGEABLE = { name: text(), description: text({ empty: true }), archived: flag(false) }
const NEW = {
  code,
  name: text({ fallback: '' }),
  description: text({ fallback: '' }),
  archived: flag(false),
}

export const conflict = (what: string): Problem =>
  new Problem(409, 'CODE_TAKEN', `${what} already exists`, { pointer: '/data/attributes/code' })

function projectIn({ documents }: Service, ctx: RouterContext): Project {
  const path = projectPath(param(ctx, 'project_code'))
  const project = findProject(documents, path)
  if (!project) throw notFound(`project ${path}`)
  return project
}

type Attributes = Omit<Project, 'id'>

const withoutId = ({ code, name, description, archived }: Project): Attributes => ({
  code,
  name,
  description,
  archived,
})

/** Adds the states before and after to the event of the request, and the operations between them. */
function describeChange(
  ctx: RouterContext,
  project: { readonly before?: Project; readonly after?: Project },
): void {
  const before = project.before && withoutId(project.before)
  const after = project.after && withoutId(project.after)
  const names = Object.keys((after ?? before)!) as (keyof Attributes)[]
  const changes = names
    .filter((name) => before?.[name] !== after?.[name])
    .map((name) => ({
      op: before ? (after ? 'replace' : 'remove') : 'add',
      path: `/${name}`,
      ...(after && { value: after[name] }),
      ...(before && { old_value: before[name] }),
    }))
  describe(ctx, { changes, ...(before && { before }), ...(after && { after }) })
}

const describeProject = (ctx: RouterContext, { code, name }: Project): void =>
  describe(ctx, { name, project_path: projectPath(code) })

export function projectRoutes(service: Service): Route[] {
  const { documents } = service

  return [
    get(
      '/api/projects',
      listOf('projects', () => documents.all('projects')),
    ),

    post('/api/projects', async (ctx) => {
      const attributes = readNew(ctx, 'project', NEW)
      const project = { id: randomUUID(), ...attributes, name: attributes.name || attributes.code }
      await documents.write((tx) => {
        const path = projectPath(project.code)
        if (findProject(documents, path)) throw conflict(`a project ${project.code}`)
        tx.put('projects', project)
      })
      describeProject(ctx, project)
      describeChange(ctx, { after: project })
      sendCreated(ctx, 'projects', project)
    }),

    get('/api/projects/:project_code', (ctx) => sendOne(ctx, 'projects', projectIn(service, ctx))),

    patch('/api/projects/:project_code', async (ctx) => {
      describeProject(ctx, projectIn(service, ctx))
      const changes = readChanges(ctx, 'project', CHANGEABLE)
      const { before, after } = await documents.write((tx) => {
        const before = projectIn(service, ctx)
        const after = { ...before, ...changes }
        tx.put('projects', after)
        return { before, after }
      })
      describeProject(ctx, after)
      describeChange(ctx, { before, after })
      sendOne(ctx, 'projects', after)
    }),

    del('/api/projects/:project_code', async (ctx) => {
      describeProject(ctx, projectIn(service, ctx))
      const before = await documents.write((tx) => {
        const project = projectIn(service, ctx)
        const nodes = `${projectPath(project.code)}/`
        for (const { id, node_path } of documents.all('nodes'))
          if (node_path.startsWith(nodes)) tx.remove('nodes', id)
        tx.remove('projects', project.id)
        return project
      })
      describeChange(ctx, { before })
      sendNothing(ctx)
    }),
  ]
}
