package lead_test

import "slices"

// pitfalls are the traps into which agents of this kind have fallen.
func pitfalls() []fact {
	return slices.Concat(messagePitfalls(), middlewarePitfalls(), statePitfalls(), sandboxPitfalls(), otherPitfalls())
}

func messagePitfalls() []fact {
	return []fact{
		by(1, "a call without its result is repaired in the request, not in the state", "danglingtoolcall.TestOnlyTheRequestIsRepaired", "danglingtoolcall.TestRepair"),
		by(2, "a result whose call is gone is dropped", "danglingtoolcall.TestRepair", "summarization.TestCutsPartNoPairs"),
		by(3, "results stand behind their calls whatever was put between", "danglingtoolcall.TestRepair", "internal/lead.TestEveryRequestBeginsAsTheOneBeforeIt"),
		by(4, "ids of calls are blank or repeat", "danglingtoolcall.TestRepairGivesBlankIDs", "agent.TestBlankAndRepeatedCallIDsBecomeUnique",
			"durablecontext.TestCallIDsThatComeAgain", "clarification.TestCallIDThatRepeatsKeepsTheOldQuestion", "internal/lead.TestEveryRequestBeginsAsTheOneBeforeIt"),
		by(5, "calls without a name or with broken arguments get an answer", "danglingtoolcall.TestInvalidCallOfTheModelIsAnsweredOnce", "internal/lead.TestAlwaysAnAnswer"),
		by(6, "raw copies of removed calls go with them", "safetyfinish.TestPitfall6RawCopiesOfCallsAreRemoved", "agent.TestTheLastAnswerHasNoRawCallsEither"),
		by(7, "one system message", "systemmessages.TestSystemPromptStaysTheSame", "internal/lead.TestEveryRequestBeginsAsTheOneBeforeIt"),
		by(8, "a filtered answer without words gets some", "safetyfinish.TestPitfall8ABlankFilteredAnswerGetsText", "internal/lead.TestTheTurnAfterAnInterventionIsSound"),
		by(9, "a blank answer is asked for again once in a run", "terminalresponse.TestPitfall9ABlankAnswerIsRetriedOncePerRun"),
		by(10, "a cut answer is no clean success", "modellength.TestPitfall10ALengthCappedAnswerIsOfItsRunAlone"),
		by(11, "thoughts and signatures go back to who wants them", "internal/models/openai.TestReasoningFields", "internal/models/openai.TestUnknownCallFieldsAreKept",
			"internal/models/anthropic.TestThinkingIsKeptWithItsProof"),
		later(12, "streams that repeat what they have sent", "vllm"),
		by(13, "thoughts are no title", "title.TestPitfall13ThoughtsAreNoTitle"),
		by(14, "addresses of all kinds work, unknown keys warn", "internal/models/openai.TestEndpoint", "internal/config.TestModelEntry", "internal/config.TestWarnings"),
		by(15, "silence in a stream has a limit of its own", "internal/model/wire.TestIdleTimeout", "internal/model/wire.TestASlowReaderIsNotIdle"),
		by(16, "an empty answer is tried again", "internal/models/openai.TestConformance", "llmerror.TestAttemptsPerClass"),
		by(17, "waits are the provider's, else spread", "llmerror.TestRetryAfterIsKeptToTheLetter", "llmerror.TestLeastWaitIsTheBase"),
		by(18, "a probe that ends in another way frees its place", "llmerror.TestCancelledProbeFreesItsPlace", "llmerror.TestBreakerNeverSticks"),
		by(19, "a sudden rise opens no circuit", "llmerror.TestBurstAndFaultyRequestsDoNotOpenTheCircuit"),
		by(20, "no place is lost by a cancel, none is held while waiting", "llmerror.TestCancelledWaiterLosesNoPlace", "llmerror.TestPlaceIsFreeWhileWaitingToRetry"),
	}
}

func middlewarePitfalls() []fact {
	return []fact{
		by(21, "a warning stands behind the results", "loopdetection.TestWarningStandsBehindTheResults"),
		by(22, "a window as large as the largest limit; long healthy runs go on", "loopdetection.TestBatchWithoutResultsStops", "loopdetection.TestHonestBatchGoesOn"),
		by(23, "reading on is no loop, the same batch again is", "loopdetection.TestReadFileMovesOn", "loopdetection.TestSameCallWithSameResultIsWarnedThenStopped"),
		by(24, "the reason of a stop without a run id", "loopdetection.TestStopReasonWithoutARunID"),
		by(25, "counters are the run's", "loopdetection.TestCountersAreOfTheRun", "toolprogress.TestPhasesAreOfTheRun", "tokenbudget.TestBudgetIsOfTheRun",
			"internal/lead.TestTheTurnAfterAnInterventionIsSound"),
		by(26, "tokens of sub-agents come later and count once", "tokenbudget.TestSubagentTokensAreCountedOnce", "tokenbudget.TestOtherCallersCount"),
		by(27, "a message that has its date is not moved again", "dynamiccontext.TestDatedMessageIsNotMovedAgain", "dynamiccontext.TestClientSendsItsMessagesAgain"),
		by(28, "an old thread without a date gets it with the newest turn", "dynamiccontext.TestOldHistoryWithoutDate"),
		by(29, "a date in other words is none", "dynamiccontext.TestDateInOtherWordsIsNone"),
		by(30, "counting tokens needs nothing from outside", "internal/model/tokens.TestTextIsNearToWhatTokenizersSay"),
		by(31, "the newest request and the pairs outlive a compaction", "summarization.TestLatestRequestIsNeverLost", "summarization.TestCutsPartNoPairs"),
		by(32, "a failed summary changes nothing, no trigger means never, manual failure is told", "summarization.TestFailedSummaryLeavesEverything",
			"summarization.TestIdle", "summarization.TestManualCompactionReportsFailure"),
		by(33, "the summary is no message of the conversation", "summarization.TestManualCompaction", "durablecontext.TestProjection"),
		by(34, "side calls are not streamed", "summarization.TestSummaryIsNotStreamed", "title.TestRow21TitleOfAModel"),
		elsewhere(35, "memory is saved before a compaction that succeeds", "a compaction cuts nothing of the state, and a reading sees all of that"),
		by(36, "reminders are hidden and bounded", "todo.TestRow19TodoGuardSendsTheModelOn", "terminalresponse.TestPitfall9ABlankAnswerIsRetriedOncePerRun"),
		by(37, "two declarations of one channel", "state.TestSchemaRefusesTwoChannelsOfOneName", "agent.TestCompileRefuses"),
		by(38, "titles: the ellipsis counts, the end is not held up, interrupted turns have one", "title.TestFallback",
			"title.TestPitfall38TitleOfAnInterruptedFirstTurn", "title.TestPitfall38TheTitleHardlyDelaysTheEnd"),
		by(39, "no image in the state; the file may have changed", "viewimage.TestViewImage_NoBytesInTheState", "viewimage.TestViewImage_FileChangedOrGone"),
		by(40, "results of the web are no better than users' words", "toolresultsanitization.TestResultsFromOutsideAreSanitized", "toolresultsanitization.TestTagAcrossParts"),
		by(41, "the wrapper of users' words can be forged", "inputsanitization.TestTextFromUsersIsSanitized"),
		by(42, "the server's text before the user's survives", "inputsanitization.TestOnlyTheUsersOwnWordsAreSanitized", "uploads.TestForgedOwnWordsAreDropped"),
		by(43, "names, titles, souls in prompts are harmless", "uploads.TestNamesOfAllKinds", "viewimage.TestViewImage_NamesAreHarmless",
			"internal/tools/uploads.TestNamesAndHeadingsAreHarmlessAndStayExact", "internal/feature/agents.TestSoulSection", "internal/feature/compaction.TestBlock"),
		by(44, "a stored output is where the agent can read it", "tooloutputbudget.TestLongResultGoesIntoAFile", "tooloutputbudget.TestToolFileThatIsGoneIsMadeAgain"),
		by(45, "what reads stored outputs is not stored", "tooloutputbudget.TestReadFileStaysExempt"),
		later(46, "stored outputs are no work of the agent's", "workspace changes"),
		by(47, "a cut never exceeds its maximum", "tooloutputbudget.TestCutProperties", "tooloutputbudget.FuzzSynopsis"),
		by(48, "status words in a page are no error", "toolerror.TestPitfall48StatusWordsInAPageAreNoError"),
		by(49, "options and fields in every shape degrade", "internal/feature/clarification.TestOptions", "internal/feature/clarification.TestNamesOfFields",
			"internal/feature/clarification.TestFormTooLarge", "clarification.TestClarification_FormThatCannotBeShownStaysAQuestion"),
		by(50, "clarification is the innermost, its message has a stable id", "internal/lead.TestClarificationIsAlwaysLast", "clarification.TestCallThatRunsAgainHasTheSameID"),
		by(51, "an empty list allows nothing, none allows all, failures obey fail_closed", "internal/config.TestAllowlistOfNothingIsNotAllowlistOfAll",
			"internal/feature/guardrail.TestAllowlist", "guardrail.TestProviderErrorObeysFailClosed"),
		by(52, "clients cannot write what the program writes", "agent.TestAddMessagesTakesNoClientForTheProgram", "internal/feature/conversation.TestClientCannotSpeakAsTheProgram"),
		later(53, "skills that are only there restrict nothing", "skills"),
		later(54, "a slash skill is put in once in a run", "skills"),
		later(55, "promotion of deferred tools", "MCP"),
	}
}

func statePitfalls() []fact {
	return []fact{
		by(56, "a second sandbox in one step fails, the same twice does not", "sandbox.TestTwoSandboxesInOneStepFailTheRun", "sandbox.TestSandboxIsNotedWithTheFirstResultThatHasIt"),
		by(57, "a first write that replaces stores the value", "internal/feature/threadstate.TestBackgroundIsReplacedByOverwrite", "state.TestReplayEqualsApply"),
		by(58, "the sandbox is in the result that opened it", "sandbox.TestSandboxIsInTheDurableResult"),
		by(59, "a fork leaves its parent's sandbox alone", "sandbox.TestPitfall59AForkReleasesItsOwnSandbox"),
		by(60, "an abandoned branch is not replayed", "internal/stores/sqlstore.TestForks", "internal/stores/sqlstore.TestConformance"),
		elsewhere(61, "two ways of storing that read each other wrong", "there is one way"),
		by(62, "writes beside a run keep the chain of checkpoints", "internal/runs.TestAStateUpdateStandsOnTheHead", "internal/stores/sqlstore.TestMissingAncestor"),
		by(63, "a rollback restores what was before, or nothing", "internal/runs.TestARollbackOfABranch", "internal/runs.TestCancel"),
		by(64, "channels that nobody declares survive a rewrite", "state.TestUndeclaredChannelsPassThrough", "internal/gateway/threads.TestPostState"),
		by(65, "a history of none and of all", "internal/gateway/threads.TestHistory"),
		later(66, "continuations count once", "goals"),
		by(67, "an old failure does not fail a new run", "internal/stream/frames.TestErrorAfterAnOldFallback", "llmerror.TestFallbackOfAnEarlierRunIsNotReplayedToTheModel"),
		by(68, "numbers of clients are checked and bounded", "internal/lead.TestPitfall68NumbersOfClientsAreBounded", "internal/lead.TestLimits"),
		by(69, "a context may be null", "internal/lead.TestPitfall69NothingInAContextIsCertain"),
		by(70, "frames of sub-agents are not the root's", "internal/stream/frames.TestSubAgentsAreHidden"),
		by(71, "a reader is told what is gone", "internal/gateway/runs.TestAReaderIsToldWhatIsGone"),
		by(72, "the end of a task is set once", "internal/tools/task.TestTaskInTime", "internal/runs.TestChildStoppedAlone"),
		by(73, "sub-agents do not write the parent's checkpoints", "internal/runs.TestChildrenOnOnePlace", "test/golden.TestReplay"),
		later(74, "prompt and skills are one system message", "sub-agents"),
		by(75, "what sub-agents inherit", "internal/lead.TestWhatASubagentHas", "internal/runs.TestChildrenOnOnePlace", "internal/app.TestSkillsWithin"),
		by(76, "a handled model failure is a failure of the task", "internal/app.TestScripts", "internal/feature/subagents.TestOutcomeOf"),
		by(77, "the last text at the turn limit", "internal/feature/subagents.TestOutcomeOf", "internal/lead.TestAlwaysAnAnswer"),
		later(78, "steps outlive the sub-agent's compaction", "sub-agents"),
		by(79, "usage of tasks is counted once", "tokenusage.TestMarkingTwiceChangesNothing", "tokenbudget.TestSubagentTokensAreCountedOnce"),
		by(80, "the end of a task is read from fields, never from text", "durablecontext.TestDelegationsEndAsTheirResultsSay"),
	}
}

func sandboxPitfalls() []fact {
	return []fact{
		by(81, "prefixes of paths end at a slash", "./sandbox.TestResolve", "./sandbox.FuzzResolve"),
		by(82, "substitution as a value and as a command, heredocs, newlines", "sandboxaudit.TestVerdicts", "internal/lib/shellwords.TestParse"),
		elsewhere(83, "words of commands that look like paths", "commands see real folders; nobody searches their words for paths"),
		by(84, "no stdin, nobody holds a call open, a time-out ends the family", "internal/sandboxes/bwrap.TestConformance", "internal/sandboxes/bwrap.TestKilledWaiterDoesNotHoldTheCall"),
		by(85, "edits of nothing, one-sided ranges, empty and binary files", "internal/tools/file.TestStrReplace", "internal/tools/file.TestReadFile"),
		by(86, "too long writes are refused with advice", "internal/tools/file.TestWriteFile"),
		by(87, "edits side by side all count; text that begins like an error", "internal/tools/file.TestConcurrentEditsAllCount",
			"readbeforewrite.TestTextThatBeginsLikeAnErrorIsGuarded"),
		by(88, "secrets are in no command and no environment", "internal/sandboxes/bwrap.TestCommandLineAndEnvironmentSayNothing", "internal/config.TestSecretIsNeverPrinted"),
		by(89, "a dead sandbox is not used again", "internal/sandboxes/pool.TestDeadIsReplaced", "internal/sandboxes/pool.TestAlive"),
		by(90, "a sandbox is known by all of what it is for", "internal/sandboxes/pool.TestAnotherSpecOpensAnew"),
		later(91, "containers have owners", "Docker"),
		later(92, "proxies, busy ports, readiness", "Docker"),
		later(93, "disabled skills are out of sight", "skills"),
		later(94, "archives of skills", "skills"),
		by(95, "uploads follow no links", "internal/gateway/files.TestUploadRefused", "./sandbox.TestForeignHardLinks", "./sandbox.TestSymlinksStayInside"),
		elsewhere(96, "virtual machines in a cloud", "there is no such provider"),
	}
}

func otherPitfalls() []fact {
	return []fact{
		by(97, "the queue of the memory", "internal/feature/memory.TestReading", "internal/feature/memory.TestAfter"),
		by(98, "memory is of a user and an agent", "internal/feature/memory.TestTold", "internal/feature/memory.TestReading", "internal/tools/memory.TestOfAnAgent"),
		by(99, "facts in any shape", "internal/feature/memory.TestWhatMayBecomeAFact", "internal/feature/memory.TestSummaries"),
		by(100, "a fact goes only when the new one is stored", "internal/feature/memory.TestReading"),
		elsewhere(101, "where the memory is stored", "in the database, with its own backup, restore and export"),
		later(102, "one broken server does not harm the others", "MCP"),
		later(103, "calls go to the server that the tool came from", "MCP"),
		later(104, "sessions are opened and closed by one owner", "MCP"),
		later(105, "tokens of servers are renewed once", "MCP"),
		later(106, "a cache that notices changes", "MCP"),
		later(107, "one server is switched without the others", "MCP"),
		by(108, "null sections are defaults, broken files do no harm, shared files are whole", "internal/config.TestLenientValues",
			"internal/config.TestHostileFilesEndInAnError", "internal/feature/agents.TestManyChangesAtOnce"),
		by(109, "update_agent keeps what it does not know and is not for everybody", "internal/feature/agents.TestUpdateKeepsWhatItDoesNotKnow",
			"internal/feature/agents.TestRefusedChanges", "internal/lead.TestPitfall109WhoeverCanWriteThereCannotChangeTheAgent"),
		by(110, "a new agent is its user's", "internal/tools/agents.TestSetup"),
		elsewhere(111, "tools that only one kind of client can call", "there is one kind of call"),
		by(112, "what is shown twice counts once", "internal/stream/frames.TestWhatIsShownOnce", "internal/runs.TestTheTokensOfATitleAreCountedOnce"),
		elsewhere(113, "values bound to a context leak", "nothing of a run is bound to one"),
		later(114, "full addresses of images, pages with an error", "web tools"),
		later(115, "agents outside have a time-out and keep their thoughts", "ACP"),
		later(116, "lines that look like a header of a diff", "workspace changes"),
		by(117, "events of a thread are numbered one after the other", "internal/stores/sqlstore.TestConformance", "internal/runs.TestTheLogReadBackIsWhatWasShown"),
	}
}
