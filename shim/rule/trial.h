/* Trials: algorithms that alternate at one call site within one run, so that the same noise affects
 * the measurements of all.
 *
 *     operation[@site][~communicator][[bytes]]=algorithm[(...)]|algorithm[(...)]|...
 *
 * The left side is a rule's and names one operation; the algorithms between the bars are the
 * trial's candidates ("arms" in the code). Candidates are numbered from 1 through all trials.
 * Trials come before all rules.
 *
 * The calls of a communicator are divided into blocks of equally many collectives. Each block runs
 * one candidate. A round has as many blocks as there are candidates: each has one turn, in an order
 * drawn for the round. The block's number, the seed and the candidates that run on the communicator
 * determine the candidate, so all ranks choose the same one without communication.
 *
 * A candidate whose algorithm does not run on a communicator has no turns there. If fewer than two
 * are left, there is no trial, and rules decide.
 *
 * Thread-safe once the ruleset exists; only the parser allocates or logs. */
#ifndef SG_RULE_TRIAL_H
#define SG_RULE_TRIAL_H

#include "rule/rule.h"

int sg_trial_count(const struct sg_ruleset *rules);
int sg_trial_arms(const struct sg_ruleset *rules);
/* By a candidate's number: its trial's number, from 0; its trial's left side; its own right
 * side. */
int sg_trial_of(const struct sg_ruleset *rules, int arm);
const char *sg_trial_pattern(const struct sg_ruleset *rules, int trial);
const char *sg_trial_arm_text(const struct sg_ruleset *rules, int arm);
/* Numbers of a trial's candidates: [first, first + count). */
void sg_trial_range(const struct sg_ruleset *rules, int trial, int *first, int *count);
/* True if a candidate has turns on a communicator. False for all candidates if the communicator
 * does not have the trial. */
bool sg_trial_takes(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm);
/* True if a candidate's algorithm would run there, even if there is no trial. */
bool sg_trial_runs(const struct sg_ruleset *rules, int arm, const struct sg_rule_comm *comm);
/* True if the trial matches such calls, on a communicator that has it. */
bool sg_trial_matches(const struct sg_ruleset *rules, int trial, enum sg_operation operation,
                      const struct sg_rule_site *site, const struct sg_rule_comm *comm,
                      uint64_t bytes);
/* Returns the candidate whose turn it is, of the trial that a matched choice stands for. */
const struct sg_choice *sg_trial_turn(const struct sg_ruleset *rules,
                                      const struct sg_choice *matched,
                                      const struct sg_rule_comm *comm, uint32_t seed,
                                      uint64_t block);
/* Order of turns: returns which of `arms` candidates (at most SG_TRIAL_ARMS_MAX) the block with
 * this number runs, from 0. Each has one turn in every round; orders of rounds and trials are
 * independent of each other. */
int sg_trial_order(uint32_t seed, int trial, uint64_t block, int arms);

#endif
