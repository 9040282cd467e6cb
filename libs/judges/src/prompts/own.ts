/** Goes before the prompt of a judge that a project registered, after the preamble. */
export const ownPreamble = `The question is in the message that follows; the project that runs the agent wrote it. Only the parts between the tags are recorded material.
reason: one to three sentences that name the evidence which decided.`;
