import { randomUUID } from 'node:crypto'
import { type Child, scriptOf } from '../children/child.js'
import type { Node } from '../model.js'
import { failureData } from '../notes.js'
import { endOf, parentPathOf } from '../paths.js'
import type { Service } from '../service.js'

type AgentService = Pick<
  Service,
  'documents' | 'note' | 'children' | 'images' | 'settings' | 'background'
>

/** Agents run in containers: child processes, here. */
export interface Agents {
  start(agent: Node, username: string): Promise<void>
  stop(agent: Node, username: string): Promise<void>
}

/** The data of every event about an agent. Links end at its environment, so it is linked by its id. */
export function agentFacts({ id, name, node_path }: Node) {
  const environment = parentPathOf(node_path)
  return { name, parent: endOf(environment), node_id: id, node_path: environment }
}

export function createAgents(service: AgentService): Agents {
  const { documents, note, children, images, settings, background } = service
  const containers = new Map<string, Child>()

  const addTask = (agent: Node, action: 'start' | 'stop'): Promise<void> =>
    documents.write((tx) =>
      tx.put('node_tasks', {
        id: randomUUID(),
        node_id: agent.id,
        action,
        created_at: new Date().toISOString(),
      }),
    )

  /** The directory of the agent's image, which is built if it is missing. */
  const imageOf = async (agent: Node, username: string): Promise<string | undefined> => {
    const facts = agentFacts(agent)
    const image = documents.get('images', agent.image_id ?? '')
    if (!image) throw new Error('the agent has no image')
    const there = await images.find(image)
    if (there !== undefined) return there
    await note('warn:agent:image_missing', facts, username)
    try {
      await images.build(image)
    } catch (error) {
      if (!background.stopping.aborted)
        await note('error:build_agent_image_task:build', { ...facts, ...failureData(error) })
      return undefined
    }
    return images.find(documents.get('images', image.id) ?? image)
  }

  return {
    async start(agent, username) {
      const facts = agentFacts(agent)
      await addTask(agent, 'start')
      try {
        const image = await imageOf(agent, username)
        if (image === undefined) return
        containers.set(agent.id, await children.start(scriptOf('agent'), [image]))
        await note('api:agent:started', facts, username)
      } catch (error) {
        if (background.stopping.aborted) return
        await note('error:agent:start', { ...facts, ...failureData(error) }, username)
      }
    },

    async stop(agent, username) {
      const facts = agentFacts(agent)
      await addTask(agent, 'stop')
      try {
        const container = containers.get(agent.id)
        if (!container?.isRunning()) throw new Error('the container of the agent has vanished')
        if (!(await container.stop(settings.number('agent_grace_ms', 5000))))
          throw new Error('the container of the agent does not stop')
        containers.delete(agent.id)
        await note('api:agent:stopped', facts, username)
      } catch (error) {
        await note('error:agent:stop', { ...facts, ...failureData(error) }, username)
      }
    },
  }
}
