import { randomUUID } from 'node:crypto'
import { text } from '../attributes.js'
import { checkRemote, fetchVersion } from '../git/fetch.js'
import type { Git } from '../git/git.js'
import type { TemplateVersion } from '../model.js'
import { invalid, Problem } from '../problem.js'
import type { Service } from '../service.js'
import { listOf } from './lists.js'
import { describe, laterIn, param, readNew, usernameOf } from './request.js'
import { sendCreated, sendOne } from './respond.js'
import { get, post, type Route } from './route.js'
import { findOne, simpleRoutes } from './simple.js'

/** A repository on this machine: the service goes nowhere else. */
const LOCAL = /^(file:\/\/)?\/[^\0]*$/
/** What cannot be taken for an option of git. */
const REVISION = /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/

function needGit({ git }: Service): Git {
  if (!git) throw new Problem(503, 'GIT_MISSING', 'git is not installed here')
  return git
}

export function templateRoutes(service: Service): Route[] {
  const { documents, note } = service
  const collection = '/api/templates/:template_id/template_versions'

  return [
    ...simpleRoutes(service, {
      kind: 'git_remotes',
      type: 'git_remote',
      link: 'git_remote_id',
      readers: {
        name: text(),
        url: text({ pattern: LOCAL, like: 'a local path or a file:// URL' }),
      },
      removable: true,
      check: () => needGit(service),
      afterwards: (ctx, remote, occasion) => {
        const git = needGit(service)
        const username = usernameOf(ctx)
        laterIn(ctx)(() => checkRemote(service, git, remote, occasion, username))
      },
    }),

    ...simpleRoutes(service, {
      kind: 'templates',
      type: 'template',
      link: 'template_id',
      readers: { name: text(), description: text({ fallback: '' }) },
      removable: false,
    }),

    get(
      collection,
      listOf('template_versions', (ctx) => {
        const { id } = findOne(service, 'templates', param(ctx, 'template_id'))
        return documents.all('template_versions').filter(({ template_id }) => template_id === id)
      }),
    ),

    post(collection, async (ctx) => {
      const git = needGit(service)
      const username = usernameOf(ctx)
      const template = findOne(service, 'templates', param(ctx, 'template_id'))
      const readers = {
        git_remote_id: text(),
        revision: text({ pattern: REVISION, like: 'a branch, tag or commit' }),
      }
      const attributes = readNew(ctx, 'template_version', readers)
      if (!documents.get('git_remotes', attributes.git_remote_id))
        throw invalid('there is no such Git remote', '/data/attributes/git_remote_id')
      const version: TemplateVersion = {
        id: randomUUID(),
        template_id: template.id,
        ...attributes,
        status: 'fetching',
        commit_sha: null,
        owner: documents.processId,
      }
      await documents.write((tx) => tx.put('template_versions', version))
      const links = { template_version_id: version.id, template_id: template.id }
      const facts = { name: version.revision, ...links, git_remote_id: version.git_remote_id }
      describe(ctx, facts)
      await note('info:template_version:fetch_initialize', facts, username)
      laterIn(ctx)(() => fetchVersion(service, git, version, username))
      sendCreated(ctx, 'template_versions', version)
    }),

    get('/api/template_versions/:template_version_id', (ctx) => {
      const id = param(ctx, 'template_version_id')
      sendOne(ctx, 'template_versions', findOne(service, 'template_versions', id))
    }),
  ]
}
