# Session: link, queue pairs, processes and run directories; the machine tests need QEMU and the firmware image.
hz_gtest(session_prp_test session_prp_test.cpp LIBS hz_session)
hz_gtest(session_link_test session_link_test.cpp LIBS hz_session)
hz_gtest(session_process_test session_process_test.cpp LIBS hz_session)
hz_gtest(session_queue_test session_queue_test.cpp LIBS hz_session)
