import { workflowEventTypes } from 'daybook/workflow'

export default { types: workflowEventTypes }
