/* Declares the additions of MPI 4.1 and 5.0 for an mpi.h that may lack them. The table of
 * functions is compared with these declarations under any MPICH, and they are compared with an
 * mpi.h that has them (functions.sh). */
#include <mpi.h>

/* ---- MPI 4.1 ---- */

int MPI_Buffer_flush(void);
int MPI_Buffer_iflush(MPI_Request *request);
int MPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size);
int MPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size);
int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request);
int MPI_Session_attach_buffer(MPI_Session session, void *buffer, int size);
int MPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size);
int MPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size);
int MPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size);
int MPI_Session_flush_buffer(MPI_Session session);
int MPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request);

int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                               MPI_Status array_of_statuses[]);
int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
                               int *flag, MPI_Status *status);
int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                int array_of_indices[], MPI_Status array_of_statuses[]);

int MPI_Get_hw_resource_info(MPI_Info *hw_info);
int MPI_Remove_error_class(int errorclass);
int MPI_Remove_error_code(int errorcode);
int MPI_Remove_error_string(int errorcode);
int MPI_Status_get_error(const MPI_Status *status, int *error);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Status_get_tag(const MPI_Status *status, int *tag);
int MPI_Status_set_error(MPI_Status *status, int error);
int MPI_Status_set_source(MPI_Status *status, int source);
int MPI_Status_set_tag(MPI_Status *status, int tag);
int MPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                             MPI_Datatype *pair_type);

/* ---- functions now, where MPICH had macros ---- */

#define SG_FUNCTION /* keeps the macro from being one */
#define SG_CONVERTS(name, handle)                                                                  \
    MPI_Fint MPI_##name##_c2f SG_FUNCTION(handle);                                                 \
    handle MPI_##name##_f2c SG_FUNCTION(MPI_Fint);
SG_CONVERTS(Comm, MPI_Comm)
SG_CONVERTS(Errhandler, MPI_Errhandler)
SG_CONVERTS(Group, MPI_Group)
SG_CONVERTS(Info, MPI_Info)
SG_CONVERTS(Message, MPI_Message)
SG_CONVERTS(Op, MPI_Op)
SG_CONVERTS(Request, MPI_Request)
SG_CONVERTS(Session, MPI_Session)
SG_CONVERTS(Type, MPI_Datatype)
SG_CONVERTS(Win, MPI_Win)

/* ---- MPI 5.0 ---- */

int MPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                 int *is_set);
int MPI_Abi_get_fortran_info(MPI_Info *info);
int MPI_Abi_get_info(MPI_Info *info);
int MPI_Abi_get_version(int *abi_major, int *abi_minor);
int MPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false);
int MPI_Abi_set_fortran_info(MPI_Info info);

#define SG_NUMBERS(name, handle)                                                                   \
    int MPI_##name##_toint(handle);                                                                \
    handle MPI_##name##_fromint(int);
SG_NUMBERS(Comm, MPI_Comm)
SG_NUMBERS(Errhandler, MPI_Errhandler)
SG_NUMBERS(File, MPI_File)
SG_NUMBERS(Group, MPI_Group)
SG_NUMBERS(Info, MPI_Info)
SG_NUMBERS(Message, MPI_Message)
SG_NUMBERS(Op, MPI_Op)
SG_NUMBERS(Request, MPI_Request)
SG_NUMBERS(Session, MPI_Session)
SG_NUMBERS(Type, MPI_Datatype)
SG_NUMBERS(Win, MPI_Win)
